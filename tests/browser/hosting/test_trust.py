"""What docs/trust.md promises of a browser: nothing is sent, nothing stays behind."""

from pathlib import Path

from tests.browser.conftest import Open
from tests.browser.live import open_live, press
from tests.browser.reading import assert_steps_through
from tools.server import serving

KEPT = """(async () => ({
  cookie: document.cookie, local: localStorage.length, session: sessionStorage.length,
  databases: (await indexedDB.databases?.() ?? []).map(({ name }) => name),
  caches: self.caches ? await caches.keys() : [] }))()"""
# each in its own way past the policy, if it had a hole; what comes of it is seen at the other server
WAYS = """(async (there) => {
  const tries = [
    () => fetch(there + "fetch", { mode: "no-cors" }),
    () => navigator.sendBeacon(there + "beacon", "x"),
    () => { new Image().src = there + "image"; },
    () => new WebSocket(there.replace("http", "ws") + "socket"),
    () => new EventSource(there + "events"),
    () => { const all = new XMLHttpRequest(); all.open("POST", there + "xhr"); all.send("x"); },
    () => document.body.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: there + "s" })),
    () => document.body.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: there + "p" })),
    () => document.body.append(Object.assign(document.createElement("iframe"), { src: there + "frame" })),
    () => document.body.append(Object.assign(document.createElement("video"), { src: there + "video" })),
    () => document.body.append(Object.assign(document.createElement("object"), { data: there + "object" })),
    () => document.body.append(Object.assign(document.createElement("embed"), { src: there + "embed" })),
    () => {
      const script = document.createElement("script");
      script.src = there + "script";
      document.body.append(script);
    },
    () => {
      const form = Object.assign(document.createElement("form"), { action: there + "form", method: "post" });
      document.body.append(form); form.submit();
    },
    () => new Function("return 1")(),
  ];
  for (const attempt of tries) try { await attempt(); } catch {}
  return tries.length;
})"""


def test_a_page_asks_its_own_site_alone_and_leaves_nothing_behind(new_tab: Open, address: str) -> None:
    page = open_live(new_tab(), address + "kv-cache.html")
    assert_steps_through(page.run)
    press(page, "next")
    assert all(url.startswith((address, "blob:")) for url in page.requests)
    kept = page.run(KEPT)
    assert {name for name in kept.pop("caches")} <= {address}  # what is read without a network
    assert kept == {"cookie": "", "local": 0, "session": 0, "databases": []}


def test_the_policy_lets_nothing_out(new_tab: Open, address: str, tmp_path: Path) -> None:
    seen: list[str] = []
    with serving(tmp_path, seen=seen) as there:
        page = new_tab(address + "kv-cache.html")
        assert page.run(f"{WAYS}({there!r})") == 15
        page.pause(1)
    assert seen == []
    assert page.run("location.href") == address + "kv-cache.html"
