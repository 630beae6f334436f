"""The Model Context Protocol server: the index as read-only tools for assistants."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Annotated, TypedDict, Unpack, get_args, get_type_hints

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from repolake import __version__
from repolake.errors import RepolakeError, sentence
from repolake.mcp_answers import chunk_answer, grep_answer, map_answer, search_answer, sql_answer
from repolake.records import Kind, SearchMode
from repolake.search import Index
from repolake.serve_index import PublishedIndex
from repolake.settings import Settings

INSTRUCTIONS = """Code search over git repositories that are indexed every night. search_code finds code by
meaning and by words, grep finds exact text, get_chunk reads on. Cite what you use as path:start-end, with its
link where there is one."""
READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Filters(TypedDict, total=False):
    """What a tool may be limited to."""

    repository: Annotated[str | None, Field(description="Only this repository, such as acme/shop.")]
    ref: Annotated[
        str | None, Field(description="Only this branch or tag; '*': all. Default: default branches.")
    ]
    language: Annotated[str | None, Field(description="Only this language, such as python.")]
    kind: Annotated[Kind | None, Field(description="Only files for this purpose.")]
    path: Annotated[str | None, Field(description="Only this file or, ending in /, this folder.")]
    path_glob: Annotated[str | None, Field(description="Only such paths; ** spans folders: src/**/*.py")]
    symbol: Annotated[str | None, Field(description="Only this definition, such as Cart.total_price.")]


class SearchFilters(Filters, total=False):
    """What a search may be limited to."""

    since: Annotated[
        str | None,
        Field(description="Only files changed since a date such as 2026-11-23, or an age such as 7d."),
    ]


def build_server(settings: Settings) -> MCPServer[None]:
    """Return the server with its tools; each call is answered from the newest published index."""
    server: MCPServer[None] = MCPServer(
        "repolake", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    newest = _NewestIndex(settings)

    def search_code(
        *,
        query: Annotated[str, Field(description="A description of behaviour, words, or an identifier.")],
        k: Annotated[int, Field(ge=1, le=20, description="How many results.")] = 5,
        mode: Annotated[
            SearchMode, Field(description="text: words alone; vector: meaning alone.")
        ] = SearchMode.HYBRID,
        rerank: Annotated[
            bool, Field(description="Order by a slower, more careful model, if the operator set one.")
        ] = False,
        **filters: Unpack[SearchFilters],
    ) -> str:
        """Find code by what it does or by name: `repository path:start-end symbol #id`, first lines."""
        if rerank and not settings.serve_reranker:
            raise ToolError("no reranker here; REPOLAKE_SERVE_RERANKER names one")
        model = settings.serve_reranker if rerank else None
        return newest.answer(
            lambda index: search_answer(index, query, k, mode.value, dict(filters), rerank=model)
        )

    def get_chunk(
        chunk_id: Annotated[str, Field(description="The number after # in an answer of search_code.")],
        context_lines: Annotated[int, Field(ge=0, le=200, description="Lines of the file around it.")] = 0,
    ) -> str:
        """Read one result of search_code whole, with lines of its file around it."""
        return newest.answer(lambda index: chunk_answer(index, chunk_id, context_lines))

    def grep(
        *,
        pattern: Annotated[str, Field(description="Regular expression (RE2), one line; (?i) ignores case.")],
        k: Annotated[int, Field(ge=1, le=200, description="Most lines.")] = 30,
        **filters: Unpack[Filters],
    ) -> str:
        """Find lines by a regular expression. Gives `repository path:line [symbol] text`."""
        return newest.answer(lambda index: grep_answer(index, pattern, k, dict(filters)))

    def repo_map(
        repository: Annotated[str, Field(description="Name of the repository, such as acme/shop.")],
        token_budget: Annotated[int, Field(ge=100, le=6000, description="Most tokens of signatures.")] = 2000,
    ) -> str:
        """Get to know a repository: signatures of its source files, the most central file first."""
        return newest.answer(lambda index: map_answer(index, repository, token_budget))

    def sql(
        query: Annotated[str, Field(description="One DuckDB statement that reads.")],
        max_rows: Annotated[int, Field(ge=1, le=200, description="Most rows.")] = 50,
    ) -> str:
        """Read the index with SQL.

        View code(chunk_id, repository, ref, commit, path, start_line, end_line, symbol, symbol_kind, kind,
        language, signature, text, url); view inventory(repository, ref, path, decision, kind, language,
        size_bytes, skip_reason, skip_rule); macro search_text('words', k := 10). `describe code` shows more.
        """
        return newest.answer(lambda index: sql_answer(index, query, max_rows))

    for tool in (_flat(search_code), get_chunk, _flat(grep), repo_map, sql):
        server.add_tool(tool, annotations=READ_ONLY, structured_output=False)
    return server


def _flat(tool: Callable[..., str]) -> Callable[..., str]:
    """Return the tool with its `**filters` declared one by one, as the schema of its arguments needs them."""
    signature = inspect.signature(tool, eval_str=True)
    *own, filters = signature.parameters.values()
    [declared] = get_args(filters.annotation)
    each = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in get_type_hints(declared, include_extras=True).items()
    ]
    tool.__signature__ = signature.replace(parameters=[*own, *each])  # type: ignore[attr-defined]
    return tool


class _NewestIndex:
    """The published index, reopened when another one was published."""

    def __init__(self, settings: Settings) -> None:
        self._published = PublishedIndex(settings)
        self._lock = threading.Lock()

    def answer(self, ask: Callable[[Index], str]) -> str:
        """Return what is asked of the newest index; what goes wrong becomes a sentence for the assistant."""
        try:
            with self._lock:
                self._published.refresh()
            with self._published.lease() as index:
                return ask(index)
        except RepolakeError as error:
            raise ToolError(sentence(error)) from error
