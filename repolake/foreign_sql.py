"""Which SQL of strangers may run: statements that read, without functions that reach below SQL."""

from __future__ import annotations

import re

import duckdb

from repolake.errors import QueryError

Connection = duckdb.DuckDBPyConnection

# CREATE is for `pivot`, which makes a temporary type; it is gone with the statement's own connection.
READING = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.CREATE})
# These take addresses in memory, end the process in DuckDB 1.5.5, or show what others ask in this process.
# `query` and `json_execute_serialized_sql` run SQL that the tokens do not show.
FORBIDDEN = frozenset(
    """
    arrow_scan arrow_scan_dumb pandas_scan python_map_function seq_scan
    enable_logging disable_logging enable_profiling disable_profiling
    duckdb_logs duckdb_logs_parsed duckdb_log_contexts truncate_duckdb_logs write_log
    checkpoint force_checkpoint query json_execute_serialized_sql
    """.split()
)


def check_statements(connection: Connection, text: str) -> None:
    """Return if every statement of the text only reads.

    Raises QueryError for no statement, another kind of statement, or a forbidden function;
    duckdb.ParserException for text that is no SQL.
    """
    kinds = [statement.type for statement in connection.extract_statements(text)]
    if not kinds:
        raise QueryError("there is no statement", "give a query, such as `select * from code limit 5`")
    for kind in kinds:
        if kind not in READING:
            raise QueryError(f"this SQL cannot run: {kind.name} is no statement that reads", "use SELECT")
    called = _called_functions(text)
    if called & FORBIDDEN:
        raise QueryError(
            f"this SQL cannot run: the function {min(called & FORBIDDEN)} is not for queries", "do without it"
        )


def _called_functions(text: str) -> set[str]:
    """Return the lower-case names that stand before an opening bracket."""
    data = text.encode()
    tokens = duckdb.tokenize(text)  # offsets in bytes; blanks and comments belong to the token before
    ends = [start for start, _ in tokens[1:]] + [len(data)]
    return {
        _name(data[start:end].decode())
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind in (duckdb.token_type.identifier, duckdb.token_type.keyword) and data[end : end + 1] == b"("
    }


def _name(token: str) -> str:
    """Return an identifier as DuckDB looks it up."""
    if token.startswith('"'):
        return token.split('"')[1].lower()
    return re.match(r"\w*", token)[0].lower()  # type: ignore[index]  # it matches every text
