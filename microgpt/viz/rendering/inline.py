"""A page that is whole: style, bridge and, if given, all of Python stand in the page itself.

It needs no server and no network: it runs from a double click, in a sandboxed frame, as the srcdoc of one. Its policy
allows the texts that it carries, by their hashes, and nothing else. Reads and writes no file: the caller brings them.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from html import escape

from microgpt.viz.rendering.policy import policy

POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*"')
ICON = re.compile(r'<link rel="icon" href="(?:[^"]*/)?([\w.-]+)"')
STYLE = re.compile(r'<link rel="stylesheet" href="(?:[^"]*/)?([\w.-]+)">')
SCRIPT = re.compile(r'<script src="(?:[^"]*/)?([\w.-]+)" defer([^>]*)></script>\n?')
BRIDGE = "boot.js"  # of the scripts, the one that starts Python
CARRIED = "carried:/"  # where the runtime is said to lie; nothing is ever fetched from there


def zipped(data: bytes) -> bytes:
    """As gzip, always the same bytes."""
    return gzip.compress(data, 9, mtime=0)


def whole(
    html: str,
    read: Callable[[str], str | bytes],
    runtime: Mapping[str, bytes] | None = None,
    pack: Callable[[bytes], bytes] = zipped,
) -> str:
    """The rendered page `html` with everything in it.

    `read(name)` gives a file of the site: style.css, boot.js, host.js, icon.svg. `runtime` is what the
    folder of Python holds, by name; without it nothing on the page can run Python, and what would ask for it is
    hidden. `pack` makes gzip of it.
    """
    styles: list[str] = []
    scripts: dict[str, tuple[str, str]] = {}  # name -> its attributes, its text

    def style(found: re.Match[str]) -> str:
        styles.append(inline(text(read(found[1])), "style"))
        return f"<style>{styles[-1]}</style>"

    def script(found: re.Match[str]) -> str:
        if found[1] != BRIDGE or runtime is not None:
            attributes = re.sub(r'data-runtime="[^"]*"', f'data-runtime="{home}"', found[2])
            scripts[found[1]] = attributes, inline(text(read(found[1])), "script")
        return ""

    def icon(found: re.Match[str]) -> str:
        data = base64.b64encode(text(read(found[1])).encode()).decode()
        return f'<link rel="icon" href="data:image/svg+xml;base64,{data}"'

    home, elements = carried(runtime, pack) if runtime is not None else ("", "")
    html = SCRIPT.sub(script, STYLE.sub(style, ICON.sub(icon, html)))
    codes = [code for _, code in scripts.values()]
    allowed = policy(styles=styles, scripts=codes, whole=True, python=runtime is not None)
    html, found = POLICY.subn(lambda match: f'{match[1]}{escape(allowed)}"', html)
    if not (found and styles and scripts):
        raise ValueError("this is not a page of ours: it has no policy, no style or no script")
    if runtime is None:
        html = html.replace("<html ", "<html data-no-python ", 1)
    tail = "".join(f"<script{attributes}>{code}</script>\n" for attributes, code in scripts.values())
    head, end, rest = html.rpartition("</body>")  # an inline script runs where it stands: when all else is there
    return "".join([head, elements, tail, end, rest])


def still(html: str, allowed: str) -> str:
    """The rendered page `html` without the bridge to Python; style and the other scripts stay beside it."""
    html = SCRIPT.sub(lambda match: "" if match[1] == BRIDGE else match[0], html)
    html = POLICY.sub(lambda match: f'{match[1]}{escape(allowed)}"', html)
    return html.replace("<html ", "<html data-no-python ", 1)


def framed(html: str, read: Callable[[str], str | bytes], address: str = "") -> str:
    """The rendered page `html` with its style and scripts in it; Python is fetched from the site, if it is asked for.

    In a frame of opaque origin a page must have in itself what it needs to be seen and to step: there WebKit does not
    take files of the page's own host for its own.
    """
    scripts: dict[str, str] = {}

    def script(found: re.Match[str]) -> str:
        up, name, attributes = found[1], found[2], found[3]
        code = inline(text(read(name)), "script")
        scripts[code] = attributes.replace('data-runtime="', f'data-runtime="{up}')
        return ""

    css = inline(text(read("style.css")), "style")
    html = re.sub(r'<script src="((?:[^"]*/)?)([\w.-]+)" defer([^>]*)></script>\n?', script, html)
    html = STYLE.sub(lambda _: f"<style>{css}</style>", html)
    allowed = policy(address, styles=[css], scripts=list(scripts))
    html = POLICY.sub(lambda match: f'{match[1]}{escape(allowed)}"', html)
    tail = "".join(f"<script{attributes}>{code}</script>\n" for code, attributes in scripts.items())
    return html.replace("</body>", f"{tail}</body>")


def carried(runtime: Mapping[str, bytes], pack: Callable[[bytes], bytes]) -> tuple[str, str]:
    """Where the runtime is said to lie, with the hash of its manifest; and the runtime as elements that no browser
    runs: base64 of gzip."""
    manifest = json.loads(runtime["runtime.json"])
    files = {name: opened(runtime[name]) for name in manifest["files"]}
    manifest["files"] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()
    }
    files["runtime.json"] = json.dumps(manifest).encode()
    parts = []
    for name in sorted(files):
        data = base64.b64encode(pack(files[name])).decode()
        parts.append(f'<script type="text/plain" data-file="{escape(name)}">{data}</script>\n')
    return f"{CARRIED}-{hashlib.sha256(files['runtime.json']).hexdigest()[:32]}/", "".join(parts)


def opened(data: bytes) -> bytes:
    """An archive without its own compression: packed as a whole it becomes smaller. Other files as they are."""
    if not data.startswith(b"PK"):
        return data
    loose = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(loose, "w") as out:
        for entry in archive.infolist():
            content = archive.read(entry)
            entry.compress_type = zipfile.ZIP_STORED
            out.writestr(entry, content)
    return loose.getvalue()


def text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8")


def inline(code: str, element: str) -> str:
    """`code`, if it can stand inside that element as it is."""
    if re.search(rf"</{element}|<!--", code, re.I):
        raise ValueError(f"this text would end the <{element}> that it stands in")
    return code
