"""All faults, in the order in which they are planted: what is quick to run comes first."""

from tests.faults.table.bridge import BRIDGE
from tests.faults.table.build import BUILD
from tests.faults.table.caches import CACHES
from tests.faults.table.checkpoints import CHECKPOINTS
from tests.faults.table.cost import COST
from tests.faults.table.documents import DOCUMENTS
from tests.faults.table.maths import MATHS
from tests.faults.table.pages import PAGES
from tests.faults.table.serving import SERVING
from tests.faults.table.trace import TRACE
from tests.faults.table.workbench import WORKBENCH

FAULTS = [*MATHS, *CACHES, *SERVING, *TRACE, *WORKBENCH, *COST, *CHECKPOINTS, *DOCUMENTS, *BUILD, *PAGES, *BRIDGE]
