"""python -m tests.viz.large gpt2 OUT: a lesson from a random model of that shape, for a look at it."""

import sys
from pathlib import Path

from build import say
from tests.viz.large import PROMPT, large
from tools.checkpoint import bake_checkpoint

bake_checkpoint(large(sys.argv[1]), say, Path(sys.argv[2]), PROMPT, widget=(sys.argv[3:] or ["stepper"])[0])
