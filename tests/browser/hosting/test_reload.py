"""A page that `build.py --serve` sends loads itself again when the site has been built again, and keeps its place."""

import shutil
import time
from pathlib import Path

from tests.browser.conftest import Open
from tests.browser.hosts import until_it_says
from tools.server import serving


def test_a_page_loads_again_when_the_site_has_been_built(site: Path, tmp_path: Path, new_tab: Open) -> None:
    """Under its strict policy, and at the step of the address; once for each build."""
    shutil.copytree(site, tmp_path / "site")
    page, number, asked = tmp_path / "site" / "kv-cache.html", [1], list[str]()
    with serving(tmp_path / "site", built=lambda: number[0], seen=asked) as url:
        tab = new_tab(url + "kv-cache.html?step=2")
        tab.wait("document.querySelector('#step-2').checked")
        page.write_text(page.read_text("utf-8").replace("</h1>", " again</h1>", 1), "utf-8")
        number[0] = 2
        until_it_says(tab, " again")
        tab.wait("document.querySelector('#step-2').checked && location.search === '?step=2'")
        tab.run("window.same = true")
        before = asked.count("/.built")
        while asked.count("/.built") < before + 3:
            time.sleep(0.1)
        assert tab.run("window.same")
        assert tab.errors == []
