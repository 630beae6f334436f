"""A read-only DuckDB session on one database file: locked down, limited in memory and time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.sqltypes import FLOAT, VARCHAR

from repolake import database, sql_files
from repolake.cores import usable_core_count
from repolake.errors import DatabaseError, QueryError, QueryTimeoutError
from repolake.settings import Settings

Connection = duckdb.DuckDBPyConnection

# What a stranger's SQL may not do: read or write files, attach, load extensions, change settings.
LOCKED: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
}
MAX_RESULT_BYTES = 32 * 1024 * 1024  # of a limited result
ROWS_AT_ONCE = 256
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

    def __init__(self, connection: Connection, path: Path, timeout_seconds: float) -> None:
        self.connection = connection
        self.path = path
        self._timeout_seconds = timeout_seconds

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def register_embed(self, embed_query: Callable[[str], Sequence[float]], dimension: int) -> None:
        """Give SQL `embed(text)` and `search(query)`, then lock the settings.

        Sessions of one process on one file share functions and settings in DuckDB: the first one's stay,
        which is right, since a file's vectors are of one model.
        """
        is_locked = self.connection.execute(sql_files.read("session/is_locked")).fetchone()
        if is_locked == (False,):
            self.connection.create_function(
                "embed",
                lambda text: [float(value) for value in embed_query(text)],  # DuckDB takes no numpy scalars
                [VARCHAR],
                duckdb.array_type(FLOAT, dimension),
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
        self, text: str, parameters: dict[str, Any] | Sequence[Any] | None, max_rows: int | None = None
    ) -> pa.Table:
        """Run a foreign statement on its own connection, so that what it creates is gone afterwards.

        With `max_rows`, the rows are read as they come and the rest is never made.

        Raises QueryError when DuckDB refuses the statement or the rows exceed MAX_RESULT_BYTES,
        QueryTimeoutError, DatabaseError.
        """
        with self._limited() as connection:
            self._prepare(connection)
            try:
                result: Connection | None = connection.execute(text, parameters)
                if result is None:
                    raise QueryError("the statement is empty", "give one statement")
                return result.to_arrow_table() if max_rows is None else _first_rows(result, max_rows)
            except STATEMENT_ERRORS as error:
                raise QueryError(f"this SQL cannot run: {error}", "correct the statement") from error

    @staticmethod
    def _prepare(connection: Connection) -> None:
        connection.execute(sql_files.read("session/search"))

    @contextmanager
    def _limited(self) -> Iterator[Connection]:
        try:
            connection = self.connection.cursor()
        except duckdb.Error as error:
            raise DatabaseError(str(self.path), str(error)) from error
        is_late = threading.Event()

        def interrupt() -> None:
            is_late.set()
            connection.interrupt()

        timer = threading.Timer(self._timeout_seconds, interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield connection
        except duckdb.Error as error:
            if is_late.is_set():
                raise QueryTimeoutError(
                    str(self.path), f"the query ran longer than {self._timeout_seconds:g} seconds"
                ) from error
            raise DatabaseError(str(self.path), str(error)) from error
        finally:
            timer.cancel()
            connection.close()


def _first_rows(result: Connection, max_rows: int) -> pa.Table:
    reader = result.to_arrow_reader(min(max_rows, ROWS_AT_ONCE))
    batches: list[pa.RecordBatch] = []
    row_count = byte_count = 0
    for batch in reader:
        batches.append(batch.slice(0, max_rows - row_count))
        row_count += batches[-1].num_rows
        byte_count += batches[-1].nbytes
        if byte_count > MAX_RESULT_BYTES:
            raise QueryError(
                f"the rows take more than {MAX_RESULT_BYTES:,} bytes", "ask for fewer rows or shorter values"
            )
        if row_count == max_rows:
            break
    return pa.Table.from_batches(batches, schema=reader.schema)


def open_session(data_dir: Path, settings: Settings) -> Session:
    """Open the published database of a data folder, read-only and without access to anything else.

    Raises IndexMissingError before the first publish, LakeFormatError for a database of another version.
    """
    config = LOCKED | {
        "memory_limit": settings.search_memory,
        "threads": settings.threads or usable_core_count(),
    }
    connection, path = database.open_published(data_dir, config)
    return Session(connection, path, settings.query_timeout_seconds)
