"""One small driver for three engines: Chromium and Firefox through Playwright, WebKitGTK through Selenium.

A test asks for a `Page` and does not care which engine it is. What an engine cannot do (no console log
in WebKit, for one) is said where it matters.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserType, Playwright
from playwright.sync_api import Page as PlaywrightTab
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import ActionChains, WebKitGTK, WebKitGTKOptions
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.webkitgtk.service import Service
from urllib3.exceptions import HTTPError

ENGINES = ("chromium", "firefox", "webkit")
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
# WebAssembly by V8's first compiler alone: a test is over before code that its second has made better would pay, and
# Python starts with half the work. The benchmarks have both, as a reader has.
ONE_COMPILER = "--js-flags=--liftoff-only"


def which(engine: str) -> str | None:
    """The installed browser of this machine, or None: of Chromium the build without windows first, which needs less."""
    if engine == "chromium":
        names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
        return next((found for name in names if (found := shutil.which(name))), None)
    if engine == "firefox":
        return shutil.which("firefox-esr") or shutil.which("firefox")
    driver, browsers = shutil.which("WebKitWebDriver"), Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")
    return next((str(path) for path in browsers), None) if driver and shutil.which("Xvfb") else None


def own(playwright: Playwright, engine: str) -> bool:
    """True when Playwright has downloaded its own build of the engine."""
    return engine != "webkit" and Path(getattr(playwright, engine).executable_path).exists()


# what a page of ours keeps in a closed block: the reader's own text, figures, links
UNFOLD = "(document.querySelectorAll('details.extras').forEach((e) => { e.open = true; }), 0)"
# WebKitGTK's driver tells of no errors: the page collects its own, from the end of loading on
COLLECT = """(() => { window.collected = [];
  for (const kind of ["error", "unhandledrejection", "securitypolicyviolation"])
    addEventListener(kind, (e) => collected.push(`${kind}: ${e.message ?? e.reason ?? e.violatedDirective}`), true);
  for (const kind of ["error", "warn"]) {
    const say = console[kind];
    console[kind] = (...texts) => { collected.push(texts.join(" ")); say(...texts); };
  } return 0; })()"""
REQUESTS_CODE = "performance.getEntries().filter((e) => /navigation|resource/.test(e.entryType)).map((e) => e.name)"


class Page(ABC):
    """A tab. `errors` are console errors and page errors, `requests` what the page has asked for."""

    @property
    @abstractmethod
    def errors(self) -> list[str]: ...

    @property
    @abstractmethod
    def requests(self) -> list[str]: ...

    @abstractmethod
    def open(self, url: str) -> None: ...

    @abstractmethod
    def reload(self) -> None:
        """As the reader's key for it does."""

    @abstractmethod
    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is waited for."""

    @abstractmethod
    def click(self, selector: str) -> None: ...

    @abstractmethod
    def fill(self, selector: str, text: str) -> None: ...

    @abstractmethod
    def choose(self, selector: str, *paths: Path) -> None:
        """Files in a control for files."""

    @abstractmethod
    def press(self, key: str) -> None:
        """A key on whatever has the focus; named as in Playwright."""

    def pause(self, seconds: float) -> None:
        """Let transitions end. The page's own timers do not run when its scripts are off."""
        time.sleep(seconds)

    def holds(self, condition: str) -> bool:
        """Whether a JavaScript expression is true now."""
        return bool(self.run(condition))

    def wait(self, condition: str, seconds: float = 60) -> None:
        """Until a JavaScript expression is true. Polls, since the page's policy forbids more."""
        end = time.monotonic() + seconds
        while not self.holds(condition):
            assert time.monotonic() < end, f"not within {seconds} s: {condition}"
            time.sleep(0.02)


class PlaywrightPage(Page):
    def __init__(self, tab: PlaywrightTab) -> None:
        self.tab, self.told, self.asked = tab, list[str](), list[str]()
        tab.on("console", lambda m: self.told.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: self.told.append(str(error)))
        tab.on("request", lambda request: self.asked.append(request.url))

    @property
    def errors(self) -> list[str]:
        return self.told

    @property
    def requests(self) -> list[str]:
        return self.asked

    def open(self, url: str) -> None:
        self.tab.goto(url)

    def reload(self) -> None:
        self.tab.reload()

    def run(self, script: str) -> Any:
        return self.tab.evaluate(script)

    def click(self, selector: str) -> None:
        self.tab.locator(selector).first.click()

    def fill(self, selector: str, text: str) -> None:
        self.tab.focus(selector)
        self.tab.keyboard.press("ControlOrMeta+a")
        self.tab.keyboard.press("Delete")  # for Firefox, where `fill` writes behind what a number field holds
        self.tab.fill(selector, text)

    def choose(self, selector: str, *paths: Path) -> None:
        self.tab.set_input_files(selector, paths)

    def press(self, key: str) -> None:
        self.tab.keyboard.press(key)

    def pause(self, seconds: float) -> None:
        self.tab.wait_for_timeout(1000 * seconds)


class WebKitPage(Page):
    KEYS = {"Tab": "\ue004", "ArrowRight": "\ue014", "ArrowLeft": "\ue012", "Enter": "\ue007"}

    def __init__(self, driver: WebKitGTK, javascript: bool) -> None:
        self.driver, self.javascript = driver, javascript

    @property
    def errors(self) -> list[str]:
        """Of the page that is open, if its scripts run."""
        return list(self.run("window.collected ?? []")) if self.javascript else []

    @property
    def requests(self) -> list[str]:
        """Of the page that is open; what its workers ask for is not told."""
        return list(self.run(REQUESTS_CODE)) if self.javascript else []

    def open(self, url: str) -> None:
        self.driver.get(url)
        if self.javascript:
            self.run(COLLECT)

    def reload(self) -> None:
        self.driver.refresh()

    def run(self, script: str) -> Any:
        wrapped = "const done = arguments[0]; Promise.resolve().then(() => (" + script + ")).then(done)"
        return self.driver.execute_async_script(wrapped)

    def holds(self, condition: str) -> bool:
        try:
            return super().holds(condition)
        except WebDriverException as error:  # now and then the driver of a busy page loses an answer
            if "Could not parse script result" not in str(error):
                raise
            return False

    def click(self, selector: str) -> None:
        element = self.driver.find_element("css selector", selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def fill(self, selector: str, text: str) -> None:
        element = self.driver.find_element("css selector", selector)
        element.clear()
        element.send_keys(text)

    def choose(self, selector: str, *paths: Path) -> None:
        self.driver.find_element("css selector", selector).send_keys("\n".join(map(str, paths)))

    def press(self, key: str) -> None:
        ActionChains(self.driver).send_keys(self.KEYS.get(key, key)).perform()


@contextmanager
def tab(
    playwright: Playwright, engine: str, *, javascript: bool = True, wasm: bool = True, width: int = 1440,
    dark: bool = False, reduced: bool = False, running: dict[str, Any] | None = None, flags: Sequence[str] = (),
) -> Iterator[Page]:  # fmt: skip
    """A fresh tab in a fresh profile, in a browser of its own or in one of those `running` (which are left running).

    `wasm=False` is not to be had in WebKit; `flags` are for Chromium alone.
    """
    if engine == "webkit":
        with webkit(javascript, width, running) as page:
            yield page
        return
    options: dict[str, Any] = {"viewport": {"width": width, "height": 1000}}
    launch: dict[str, Any] = {"executable_path": which(engine)} if which(engine) else {}
    if engine == "chromium":
        launch["args"] = [*CHROMIUM_FLAGS, *flags, *([] if wasm else ["--js-flags=--jitless"])]
        options |= {"java_script_enabled": javascript, "color_scheme": "dark" if dark else "light"}
        options |= {"reduced_motion": "reduce" if reduced else "no-preference"}
    else:
        launch["firefox_user_prefs"] = {
            "javascript.enabled": javascript, "javascript.options.wasm": wasm, "ui.prefersReducedMotion": int(reduced),
            "ui.systemUsesDarkTheme": int(dark), "layout.css.prefers-color-scheme.content-override": 0 if dark else 1,
        }  # fmt: skip
        if which(engine):
            launch["channel"] = "moz-firefox"
    kind: BrowserType = getattr(playwright, engine)
    key = f"{engine} {launch}"
    browser = (running or {}).get(key) or kind.launch(**launch)
    if running is not None:
        running[key] = browser
    context = browser.new_context(**options)
    try:
        yield PlaywrightPage(context.new_page())
    finally:
        context.close()
        if running is None:
            browser.close()


@contextmanager
def webkit(javascript: bool, width: int, running: dict[str, Any] | None = None) -> Iterator[Page]:
    """MiniBrowser under a virtual screen of its own; one of those `running` that has nothing to do, if there is one."""
    options = WebKitGTKOptions()
    options.binary_location = which("webkit") or ""
    options.add_argument("--automation")
    if not javascript:
        options.add_argument("--enable-javascript=false")
    key = f"webkit {javascript}"
    with screen():
        driver = (running or {}).pop(key, None) or start_driver(options)
        try:
            driver.set_script_timeout(30)
            driver.set_window_size(width, 1000)
            yield WebKitPage(driver, javascript)
        finally:
            if running is not None and key not in running and idle(driver):
                running[key] = driver
            else:
                driver.quit()


def idle(driver: WebKitGTK) -> bool:
    """Whether it has forgotten the page that it was at: not where Python is at work, when WebKit may crash later."""
    busy = "return frames.length > 0 || Boolean(document.querySelector('[data-boot]')?.dataset.state)"
    try:
        driver.switch_to.default_content()
        if driver.execute_script(busy):
            return False
        driver.get("about:blank")
        driver.delete_all_cookies()
    except (WebDriverException, HTTPError):
        return False
    return True


def start_driver(options: WebKitGTKOptions) -> WebKitGTK:
    """A driver with its browser. It now and then hangs while it starts: then it is given up, and started once more."""
    before = socket.getdefaulttimeout()
    try:
        for patient in (False, True):
            socket.setdefaulttimeout(60 if patient else 15)  # what selenium waits for an answer
            service = Service(shutil.which("WebKitWebDriver"))
            try:
                driver = WebKitGTK(options=options, service=service)
                hasty = driver.command_executor
                assert isinstance(hasty, RemoteConnection)
                hasty.client_config.timeout = 120  # for all that comes after the start: a page may be busy
                return driver
            except HTTPError:
                service.stop()
                if patient:
                    raise
    finally:
        socket.setdefaulttimeout(before)
    raise AssertionError("not reached")


@contextmanager
def screen() -> Iterator[None]:
    """An X server, unless there is one."""
    if os.environ.get("DISPLAY"):
        yield
        return
    import subprocess

    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
        pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    try:
        with os.fdopen(read) as line:
            os.environ["DISPLAY"] = f":{line.readline().strip()}"
        yield
    finally:
        os.environ.pop("DISPLAY", None)
        server.terminate()
        server.wait()
