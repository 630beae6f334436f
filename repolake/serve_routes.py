"""What the server answers: search, chunks, SQL, repositories, inventory, evaluations, status."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import ValidationError

from repolake import serve_answers as answers
from repolake.chunk_context import read_chunk
from repolake.cli_output import to_json
from repolake.errors import QueryError, sentence
from repolake.search import Index, SearchHits
from repolake.serve_limits import read_body
from repolake.serve_security import refuse
from repolake.serve_state import ServerState

NOTES_HEADER = "repolake-notes"
INDEX_HEADER = "repolake-index"

Answers = dict[int | str, dict[str, Any]]
REFUSALS: Answers = {
    status: {"model": answers.Failed, "description": description}
    for status, description in {
        401: "The token is missing or wrong.",
        404: "The index holds no such name.",
        422: "A parameter is wrong.",
        503: "The server is busy or has no index yet; Retry-After says when to come again.",
        504: "The query took too long.",
    }.items()
}


def json_response(value: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as JSON: ids as decimal strings, times as ISO 8601."""
    body = json.dumps(to_json(value), ensure_ascii=False, allow_nan=False).encode()
    return Response(body, headers=headers, media_type="application/json")


def make_router(state: ServerState) -> APIRouter:
    """Return the routes of one server."""
    router = APIRouter(responses=REFUSALS)

    async def ask(request: Request, work: Callable[[Index], object]) -> Response:
        def leased() -> Response:
            with state.index.lease() as index:
                found = work(index)
                headers = {INDEX_HEADER: index.path.stem}
                if isinstance(found, SearchHits) and found.notes:
                    headers[NOTES_HEADER] = json.dumps(found.notes)
                rows = [hit.columns() for hit in found] if isinstance(found, SearchHits) else found
                return json_response(rows, headers)

        return await state.turns.run(request, leased)

    @router.get("/search", response_model=list[answers.Hit], summary="The k best chunks for a query")
    async def search(request: Request, parameters: Annotated[answers.SearchParameters, Query()]) -> Response:
        """Search by words and meaning together; filters apply before k. Best first.

        The header `Repolake-Notes` (a JSON list) says what the ranking had to do without, if anything;
        `Repolake-Index` names the database that answered.
        """
        given = parameters.model_dump()
        query, k, mode = given.pop("q"), given.pop("k"), given.pop("mode")
        if given.pop("rerank"):
            if not state.settings.serve_reranker:
                return refuse(422, "rerank: no reranker here; REPOLAKE_SERVE_RERANKER names one")
            given["rerank"] = state.settings.serve_reranker
        return await ask(request, lambda index: index.search(query, k=k, mode=mode, **given))

    @router.get("/chunks/{chunk_id}", response_model=answers.Chunk, summary="One chunk in its file")
    async def chunk(
        request: Request,
        chunk_id: Annotated[str, Path(pattern=r"^[0-9]{1,19}$", description="As `chunk_id` of a result.")],
        parameters: Annotated[answers.ChunkParameters, Query()],
    ) -> Response:
        """Return a chunk by its id, with lines of its file around it."""
        return await ask(
            request,
            lambda index: asdict(
                read_chunk(index, int(chunk_id), context_lines=parameters.context, ref=parameters.ref)
            ),
        )

    @router.get("/repositories", response_model=list[answers.RepositoryEntry], summary="What the index holds")
    async def repositories(request: Request) -> Response:
        """Return the repositories with their refs, languages and kinds: what filters can name."""
        return await ask(request, _repositories)

    @router.get(
        "/inventory", response_model=list[answers.InventoryEntry], summary="What is indexed, and what is not"
    )
    async def inventory(
        request: Request, parameters: Annotated[answers.InventoryParameters, Query()]
    ) -> Response:
        """Count the paths of the default refs by what became of them and by the rule that decided."""
        names = tuple(answers.InventoryEntry.model_fields)
        return await ask(
            request,
            lambda index: [
                dict(zip(names, row, strict=True))
                for row in index.rows("queries/inventory_summary", repository=parameters.repository)
            ],
        )

    @router.get(
        "/evaluations", response_model=list[answers.EvaluationEntry], summary="Retrieval quality over time"
    )
    async def evaluations(request: Request) -> Response:
        """Return the mean of each metric of each evaluated variant, oldest first."""
        names = tuple(answers.EvaluationEntry.model_fields)
        return await ask(
            request,
            lambda index: [
                dict(zip(names, row, strict=True)) for row in index.rows("queries/evaluation_trend")
            ],
        )

    @router.get("/status", summary="Freshness, counts, runs and failures")
    async def status(request: Request) -> Response:
        """Return what `repolake status --json` prints, with more runs."""
        return await state.turns.run(request, lambda: json_response(asdict(state.status())))

    body = answers.SqlRequest.model_json_schema()

    @router.post(
        "/sql",
        response_model=answers.Rows,
        summary="Read-only SQL (off unless a setting turns it on)",
        responses={
            400: {"model": answers.Failed, "description": "The statement cannot run."},
            413: {"model": answers.Failed, "description": "The body is too large."},
        },
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}},
    )
    async def sql(request: Request) -> Response:
        """Run one statement on a connection of its own, without access to files, extensions or settings."""
        if not state.settings.serve_sql:
            return refuse(404, "SQL over HTTP is off here; REPOLAKE_SERVE_SQL=true turns it on")
        try:
            asked = answers.SqlRequest.model_validate_json(
                await read_body(request, state.settings.serve_client_seconds)
            )
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the body"
            return refuse(422, f"{place}: {first['msg']}")
        limit = state.settings.serve_sql_rows

        def answer() -> Response:
            with state.index.lease() as index:
                return json_response(_rows(index, asked, limit), {INDEX_HEADER: index.path.stem})

        try:
            return await state.sql_turns.run(request, answer)
        except QueryError as error:
            return refuse(400, sentence(error))

    return router


def _repositories(index: Index) -> list[dict[str, Any]]:
    names = tuple(answers.RepositoryEntry.model_fields)[:10]
    found = {
        row[0]: {**dict(zip(names, row, strict=True)), "refs": [], "languages": {}, "kinds": {}}
        for row in index.rows("queries/repository_summary")
    }
    for repository, ref, is_default, language, kind, count in index.rows("queries/searchable_names"):
        entry = found[repository]
        if ref not in entry["refs"]:
            entry["refs"].append(ref)
        if is_default:
            for group, name in (("languages", language), ("kinds", kind)):
                entry[group][name] = entry[group].get(name, 0) + count
    return list(found.values())


def _rows(index: Index, asked: answers.SqlRequest, limit: int) -> dict[str, Any]:
    table = index.sql(asked.sql, asked.parameters, max_rows=limit + 1)
    columns = [column.to_pylist() for column in table.slice(0, limit).columns]
    names = table.column_names
    rows = [
        [to_json(value, name) for name, value in zip(names, row, strict=True)]
        for row in zip(*columns, strict=True)
    ]
    return {
        "columns": names,
        "types": [str(field.type) for field in table.schema],
        "rows": rows,
        "is_truncated": table.num_rows > limit,
    }
