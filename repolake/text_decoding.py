r"""Bytes → text, by one documented order of steps.

1. A byte order mark decides: UTF-32, UTF-16 (either order), UTF-8; it is not part of the text.
2. A NUL byte anywhere else means binary, at whatever place it stands; so does a NUL in decoded text.
3. A coding line (PEP 263: `coding: latin-1` in the first two lines) decides for Python and Ruby.
4. UTF-8. 5. A coding line of any other file.
6. charset-normalizer over the encodings that source code is really written in: believed if it finds a
   language in the text (its coherence) and few improbable characters (its chaos), or leaves one encoding.
7. Windows-1252, if few bytes are no ASCII: too few to tell the encoding, and the code itself reads the same.
8. Otherwise the file is undecodable.

Lines are counted by `\\n` alone, as git and tree-sitter do.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from repolake import notebook

MAX_CHAOS = 0.12
MIN_COHERENCE = 0.15
MAX_FALLBACK_SHARE = 0.25  # of the bytes
_FALLBACK = "cp1252"
_SAMPLE_BYTES = 65536
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CODING_LINE = re.compile(rb"^[ \t\f]*(?:#|//|--|;|%|/\*|<!--|\"|\.\.).*?coding[:=][ \t]*([-\w.]+)")
_OBEYS_CODING_LINE = (".py", ".pyi", ".pyw", ".pyx", ".rb", ".rake")
# Codecs that interpret text rather than decode it.
_NO_CHARSETS = frozenset({"utf_7", "unicode_escape", "raw_unicode_escape", "idna", "punycode", "mbcs", "oem"})
_CANDIDATES = (
    "cp1252", "iso8859_15", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030",
    "big5", "cp949",
)  # fmt: skip
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text without its byte order mark, and the encoding that it was in (a Python codec name)."""

    text: str
    encoding: str

    @property
    def line_count(self) -> int:
        r"""Lines, counted by `\\n`; a last line without one counts."""
        return self.text.count("\n") + (not self.text.endswith("\n") if self.text else 0)


def decode(data: bytes, path: str) -> DecodedText | None:
    """Return a file's text, or None when it is binary or its encoding cannot be told."""
    for mark, encoding in _BOMS:
        if data.startswith(mark) and not (encoding == "utf-32-le" and len(data) % 4):
            return _decoded(data[len(mark) :], encoding)
    if has_nul(data):
        return None
    declared = _declared_encoding(data)
    if declared and path.lower().endswith(_OBEYS_CODING_LINE):
        found = _decoded(data, declared)
        if found is not None:
            return found
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return (_decoded(data, declared) if declared else None) or _detected(data)


def file_text(path: str, language: str, data: bytes) -> DecodedText | None:
    """Return the text that is cut into chunks: the decoded file, or the cells of a notebook."""
    decoded = decode(data, path)
    if decoded is None or not path.lower().endswith(".ipynb"):
        return decoded
    text = notebook.notebook_text(decoded.text, language)
    return None if text is None else DecodedText(text, decoded.encoding)


def has_nul(data: bytes) -> bool:
    """Whether a NUL byte stands anywhere."""
    return b"\0" in data


def has_wide_mark(data: bytes) -> bool:
    """Whether the content begins with a UTF-16 or UTF-32 byte order mark."""
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def _declared_encoding(data: bytes) -> str | None:
    for line in data[:1024].split(b"\n", 2)[:2]:
        match = _CODING_LINE.match(line)
        if match is None:
            continue
        name = match[1].decode("ascii").removesuffix("-unix").removesuffix("-dos")
        try:
            codec = codecs.lookup(name).name
            # The line itself was read as ASCII: no UTF-16, no EBCDIC, no codec that only rewrites text.
            is_charset = b"# coding".decode(codec) == "# coding"
        except (LookupError, UnicodeError):
            return None
        return codec if is_charset and codec.replace("-", "_") not in _NO_CHARSETS else None
    return None


def _decoded(data: bytes, encoding: str) -> DecodedText | None:
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, UnicodeError):
        return None
    return None if "\0" in text else DecodedText(text, encoding)


def _detected(data: bytes) -> DecodedText | None:
    # The bytes that matter are the few that are no ASCII: their lines are the sample.
    lines = []
    size = 0
    for line in data.split(b"\n"):
        if not line.isascii() and size < _SAMPLE_BYTES:
            lines.append(line)
            size += len(line) + 1
    sample = b"\n".join(lines)
    matches = from_bytes(sample, cp_isolation=list(_CANDIDATES), threshold=MAX_CHAOS, enable_fallback=False)
    best = matches.best()
    rivals = {match.encoding for match in matches if best is not None and match.coherence == best.coherence}
    encoding = _FALLBACK
    if best is not None and (len(matches) == 1 or best.coherence >= MIN_COHERENCE):
        encoding = _FALLBACK if _FALLBACK in rivals else best.encoding
    elif sum(byte >= 0x80 for byte in data) > MAX_FALLBACK_SHARE * len(data):
        return None
    found = _decoded(data, encoding)
    if found is None or len(_CONTROLS.findall(found.text)) > _MAX_CONTROL_SHARE * len(found.text):
        return None
    return found
