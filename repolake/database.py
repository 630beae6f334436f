"""The one importer of duckdb: sessions over the lake's shards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from repolake import sql_files
from repolake.errors import DatabaseError

LAKE_MEMORY = "1GB"


class LakeSession:
    """An in-memory DuckDB session that reads shards of the lake by the statements of `sql/`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def rows(self, name: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Return all rows of one statement, such as `queries/count_wanted_texts`.

        Raises DatabaseError when DuckDB refuses, for instance over a broken shard.
        """
        try:
            return self._connection.execute(sql_files.read(name), parameters).fetchall()
        except duckdb.Error as error:
            raise DatabaseError("the lake", str(error)) from error

    def stream(self, name: str, batch_rows: int, **parameters: object) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one statement in Arrow batches while DuckDB reads on; nothing is held whole.

        Raises DatabaseError when DuckDB refuses.
        """
        try:
            yield from self._connection.execute(sql_files.read(name), parameters).to_arrow_reader(batch_rows)
        except duckdb.Error as error:
            raise DatabaseError("the lake", str(error)) from error


@contextmanager
def query_lake(scratch_dir: Path, *, threads: int) -> Iterator[LakeSession]:
    """Open a session over the lake that spills to `scratch_dir` beyond a fixed amount of memory."""
    config: dict[str, Any] = {
        "memory_limit": LAKE_MEMORY,
        "temp_directory": str(scratch_dir),
        "threads": threads,
        "preserve_insertion_order": False,
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        for name in ("session/file_label", "session/embedded_text"):
            connection.execute(sql_files.read(name))
        yield LakeSession(connection)
    finally:
        connection.close()
