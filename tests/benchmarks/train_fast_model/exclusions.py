"""What the fast model must never learn from: repositories that retrieval is evaluated on, and copies."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The repositories of the development queries, then those of public code-search benchmarks and others that
# somebody will likely evaluate on. A path with such a part, or a file of such a name, is left out.
EVALUATED = _words(
    "requests flask click httpx zod gin pydantic pydantic_core pydantic-core starlette aiohttp "
    "fastapi model2vec axios express redux cobra chi gson commons-lang jackson-databind guzzle "
    "monolog laravel sinatra rack rails tokio trpc messagepack ktor cats alamofire serde "
    "serde_json nlohmann phoenix axum vitest newtonsoft dapper kotlinx-coroutines exposed circe "
    "http4s vapor plug ecto abseil abseil-cpp absl-cpp fmt fmtlib libfmt curl libcurl hiredis "
    "libuv bats-core aeson nvm pandoc xmonad werkzeug jinja2 markupsafe itsdangerous urllib3 "
    "httpcore h11 django sqlalchemy pytest _pytest celery scrapy rich typer uvicorn tornado attr "
    "attrs black semble sentence_transformers"
)
VENDORED = _words(
    "_vendor vendor vendored _vendored vendors third_party thirdparty third-party 3rdparty extern "
    "external externals _extern site-packages node_modules deps dependencies bundled _bundled "
    "submodules subprojects contrib_vendor pkgs packages-vendored"
)
NOT_SOURCE = _words(
    "test tests testing __tests__ spec specs testdata fixtures __mocks__ mocks benchmarks min "
    "dist umd generated gen pb2 locale locales migrations snapshots"
)
MIN_DOCSTRING_WORDS = 5  # shorter ones ("Return the name.") are equal by chance
MIN_BODY_WORDS = 8


def is_excluded_path(path: str) -> bool:
    """Say whether a path inside an archive is evaluated code, a vendored copy, a test or a generated file."""
    parts = path.lower().split("/")
    stem = parts[-1].split(".")[0]
    return not {*parts[:-1], stem}.isdisjoint(EVALUATED | VENDORED | NOT_SOURCE) or bool(
        re.search(
            r"(^|[._-])(min|bundle|umd|pb2|pb2_grpc|generated|test|spec)\.|\.d\.[cm]?ts$|^test_|_test\.",
            parts[-1],
        )
    )


def body_key(code: str) -> str | None:
    """Return a hash of the words of some code, or None where it is too short to be recognised."""
    return _key(code, MIN_BODY_WORDS)


def docstring_key(text: str) -> str | None:
    """Return a hash of the words of a docstring, or None where it is too short to be recognised."""
    return _key(text, MIN_DOCSTRING_WORDS)


def _key(text: str, min_words: int) -> str | None:
    words = re.findall(r"\w+", text.lower())
    return (
        hashlib.md5(" ".join(words).encode(), usedforsecurity=False).hexdigest()
        if len(words) >= min_words
        else None
    )


def source_files(folders: Iterable[Path]) -> list[Path]:
    """Return every regular file of the folders whose content must not be learned, in a fixed order."""
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
