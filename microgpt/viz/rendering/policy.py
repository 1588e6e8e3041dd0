"""The Content-Security-Policy of a page: no inline script or style, no eval but WebAssembly's, nothing from elsewhere.

A page that brings its style or bridge along names them by their hashes. Knows no page.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit


def policy(
    address: str = "",
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    frames: bool = False,
    self_contained: bool = False,
    python: bool = True,
) -> str:
    """The policy of a page of the site at `address`, if that is known.

    `styles` and `scripts` are the texts that stand in the page itself, `frames` lets it frame pages of its own site.
    `self_contained` says that all that it loads stands in it, `python` that Python may run in it. In a frame without
    an origin WebKit takes 'self' for nothing: there the host must be named.
    """
    url = urlsplit(address)
    site = "" if self_contained else "'self'"
    here = f"{site} {url.scheme}://{url.netloc}" if site and url.netloc else site
    sources = {
        "default-src": ["'none'"],
        "script-src": [here, *["'wasm-unsafe-eval'"] * python, *map(hash_source, scripts)],
        "connect-src": [here or "'none'"],
        "style-src": [here, *map(hash_source, styles)],
        "img-src": [here, "data:"],
        "worker-src": [here, "blob:"] if python else ["'none'"],
        **({"frame-src": [here]} if frames else {}),
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["microgpt", "offline"],
    }
    return "; ".join(" ".join([name, *filter(None, allowed)]) for name, allowed in sources.items())


def hash_source(text: str) -> str:
    """'sha256-...': the name of a piece of text in a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
