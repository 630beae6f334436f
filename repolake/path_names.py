r"""File names as text: UTF-8 where they are, backslash escapes where they are not, and back again.

git and POSIX know names as bytes. A byte that is no UTF-8 is written `\\xNN`; a backslash that would look
like such an escape is itself written `\\x5c`, so two names never meet and every name can be turned back.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")
_LOOKS_ESCAPED = re.compile(rb"\\(?=x[0-9a-f]{2})")


def path_text(name: bytes) -> str:
    r"""Return a file name as text, such as `caf\\xe9.py` for latin-1 bytes."""
    if b"\\" in name:
        name = _LOOKS_ESCAPED.sub(rb"\\x5c", name)
    return name.decode("utf-8", "backslashreplace")


def path_bytes(path: str) -> bytes:
    """Return the bytes of a name made by `path_text`."""
    raw = path.encode("utf-8", "surrogateescape")
    if b"\\" in raw:
        raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), raw)
    return raw
