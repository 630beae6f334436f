"""A read-only DuckDB session on one database file: locked down, limited in memory and time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from duckdb.sqltypes import DOUBLE, FLOAT, VARCHAR

from repolake import database, sql_files
from repolake.cores import usable_core_count
from repolake.errors import QueryError, QueryTimeoutError
from repolake.foreign_sql import check_statements
from repolake.settings import Settings
from repolake.time_limit import TimeLimit, pausing

if TYPE_CHECKING:
    import pyarrow as pa  # half a second, and a search needs none of it

Connection = duckdb.DuckDBPyConnection

BATCH_ROWS = 10_000
LIMITED_BATCH_ROWS = 256
LIMITED_RESULT_BYTES = 32 * 1024 * 1024  # where only the first rows are wanted
# What DuckDB says when `embed` or `rerank_scores` raises one of our errors: its message, then the place.
FUNCTION_ERROR = re.compile(r"executing the UDF: \w+: (.*?)\s*(?:At:|$)", re.DOTALL)
# What DuckDB says of a statement itself: the asker's mistake, not the database's.
STATEMENT_ERRORS = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.InvalidInputException,
    duckdb.InvalidTypeException,
    duckdb.OutOfRangeException,
    duckdb.PermissionException,
    duckdb.NotImplementedException,
    duckdb.SyntaxException,
    duckdb.TypeMismatchException,
    duckdb.ConstraintException,
)


class Session:
    """Statements on one database file, one at a time a connection; each ends in time or is interrupted."""

    def __init__(self, connection: Connection, path: Path, timeout_seconds: float, result_bytes: int) -> None:
        self.connection = connection
        self.path = path
        self._timeout_seconds = timeout_seconds
        self._result_bytes = result_bytes

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def register_models(
        self,
        embed_query: Callable[[str], Sequence[float]],
        load_model: Callable[[], object],
        dimension: int,
        rerank_scores: Callable[[str, str, list[dict[str, str | None]]], list[float]],
    ) -> None:
        """Give SQL `embed(text)`, `rerank_scores(…)` and `search(query)`, then lock the settings.

        The time that `load_model` takes, at the first text, does not count as the query's.
        Sessions of one process on one file share functions and settings in DuckDB: the first one's stay,
        which is right, since a file's vectors are of one model.
        """

        def embed(text: str) -> list[float]:
            with pausing():
                load_model()
            return [float(value) for value in embed_query(text)]  # DuckDB takes no numpy scalars

        is_locked = self.connection.execute(sql_files.read("session/is_locked")).fetchone()
        if is_locked == (False,):
            vector = duckdb.array_type(FLOAT, dimension)
            passage = duckdb.struct_type(dict.fromkeys(("path", "symbol", "signature", "text"), VARCHAR))
            self.connection.create_function("embed", embed, [VARCHAR], vector)
            self.connection.create_function(
                "rerank_scores",
                rerank_scores,
                [VARCHAR, VARCHAR, duckdb.list_type(passage)],
                duckdb.list_type(DOUBLE),
            )
            self.connection.execute(sql_files.read("session/lock"))
        self._prepare(self.connection)

    def rows(self, name: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Return all rows of one query of `sql/`.

        Raises QueryTimeoutError when it takes too long, DatabaseError when DuckDB fails.
        """
        with self._limited() as connection:
            return connection.execute(sql_files.read(name), parameters).fetchall()

    def sql(
        self,
        text: str,
        parameters: dict[str, Any] | Sequence[Any] | None,
        *,
        max_rows: int | None = None,
    ) -> pa.Table:
        """Run a foreign statement on its own connection, so that what it creates is gone afterwards.

        With `max_rows`, the rows are read as they come and the rest is never made.

        Raises QueryError when DuckDB refuses the statement, when it is none that reads, or when its result
        is larger than the memory of a session (LIMITED_RESULT_BYTES with `max_rows`); QueryTimeoutError,
        DatabaseError.
        """
        with self._limited() as connection:
            self._prepare(connection)
            try:
                check_statements(connection, text)
                return self._table(connection.execute(text, parameters), max_rows)
            except STATEMENT_ERRORS as error:
                own = FUNCTION_ERROR.search(str(error))
                if own is not None:
                    raise QueryError(own[1], "") from error
                raise QueryError(f"this SQL cannot run: {error}", "correct the statement") from error

    def _table(self, result: Connection, max_rows: int | None) -> pa.Table:
        """Collect a result; Arrow's memory is none that DuckDB limits."""
        import pyarrow as pa

        most_bytes = self._result_bytes if max_rows is None else min(self._result_bytes, LIMITED_RESULT_BYTES)
        rows_at_once = BATCH_ROWS if max_rows is None else min(max_rows, LIMITED_BATCH_ROWS)
        reader = result.to_arrow_reader(rows_at_once)
        batches: list[pa.RecordBatch] = []
        row_count = byte_count = 0
        for batch in reader:
            batches.append(batch if max_rows is None else batch.slice(0, max_rows - row_count))
            row_count += batches[-1].num_rows
            byte_count += batches[-1].nbytes
            if byte_count > most_bytes:
                raise QueryError(
                    f"the result is larger than {most_bytes:,} bytes", "ask for less, or add a limit"
                )
            if row_count == max_rows:
                break
        return pa.Table.from_batches(batches, reader.schema)

    @staticmethod
    def _prepare(connection: Connection) -> None:
        connection.execute(sql_files.read("session/search"))

    @contextmanager
    def _limited(self) -> Iterator[Connection]:
        try:
            connection = self.connection.cursor()
        except duckdb.Error as error:
            raise database.not_answered(self.path, error) from error
        limit = TimeLimit(self._timeout_seconds, connection.interrupt)
        try:
            with limit, database.signals_pass(connection):
                yield connection
        except (duckdb.Error, OSError) as error:  # Arrow's reader gives an OSError for what DuckDB says
            if limit.is_over:
                raise QueryTimeoutError(
                    str(self.path), f"the query ran longer than {self._timeout_seconds:g} seconds"
                ) from error
            raise database.not_answered(self.path, error) from error
        finally:
            connection.close()


def open_session(data_dir: Path, settings: Settings) -> Session:
    """Open the published database of a data folder, read-only and without access to anything else.

    Raises IndexMissingError before the first publish, LakeFormatError for a database of another version.
    """
    connection, path = database.open_published(data_dir)
    database.limit(connection, settings.search_memory, settings.threads or usable_core_count())
    return Session(connection, path, settings.query_timeout_seconds, settings.search_memory_bytes)
