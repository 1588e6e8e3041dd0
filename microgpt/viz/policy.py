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
    blobs: bool = False,
) -> str:
    """The policy of a page of the site at `address`, if that is known.

    `styles` and `scripts` are the texts that stand in the page itself, `frames` lets it frame pages of its own site,
    `blobs` lets it run Python out of itself. In a frame without an origin WebKit takes 'self' for nothing: there the
    host must be named.
    """
    url = urlsplit(address)
    here = f"'self' {url.scheme}://{url.netloc}" if url.netloc else "'self'"
    return "; ".join(
        [
            "default-src 'none'",
            " ".join([f"script-src {here} 'wasm-unsafe-eval'", *map(hashed, scripts), *["blob:"] * blobs]),
            f"connect-src {here}",
            " ".join([f"style-src {here}", *map(hashed, styles)]),
            f"img-src {here} data:",
            f"worker-src {here} blob:",
            *[f"frame-src {here}"] * frames,
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types microgpt offline",
        ]
    )


def hashed(text: str) -> str:
    """'sha256-...': the name of a piece of text in a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
