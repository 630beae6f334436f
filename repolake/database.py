"""The one importer of duckdb: build an index file, open it, check it; sessions over the lake's shards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from repolake import database_files, sql_files
from repolake.errors import (
    DatabaseError,
    IndexMissingError,
    LakeFormatError,
    LakeWriteError,
    UnknownNameError,
)
from repolake.records import Header

if TYPE_CHECKING:
    import pyarrow as pa  # half a second, and a search needs none of it

# Raise it when tables, views or macros change: another version is rebuilt from the lake, never migrated.
SCHEMA_VERSION = 6
LAKE_MEMORY = "1GB"
CHECK_ROWS = 5  # that an error message names

# How every reader opens a published file: without files, extensions or network, and without spilling. One for
# all, since DuckDB refuses a second connection of one process to a file under another configuration.
READ_ONLY_CONFIG: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
    "python_enable_replacements": False,
}
Connection = duckdb.DuckDBPyConnection

# In this order, since a macro names only macros that exist.
MACROS = (
    "word_characters",
    "upper_letters",
    "lower_letters",
    "fold_text",
    "spaced_identifiers",
    "identifier_parts",
    "compound_identifiers",
    "digit_parts",
    "character_pairs",
    "spaced_characters",
    "stem_words",
    "split_identifiers",
    "split_words",
    "word_key",
    "bm25_k1",
    "bm25_b",
    "glob_pattern",
    "plain_path",
    "url_path",
    "line_url",
    "file_stem",
    "named_symbols",
    "query_words",
    "searchable_chunks",
    "text_hits",
    "vector_hits",
    "shown_chunks",
    "named_definitions",
    "hybrid_hits",
    "reference_hits",
)
VIEWS = ("code", "inventory", "skip_summary", "repository_summary", "largest_files")
PUBLIC_MACROS = (
    "search_text",
    "search_vector",
    "search_hybrid",
    "reference_arm",
    "selected_arm",
    "similar_chunks",
    "grep",
    "recent_chunks",
    "definitions",
    "references_to",
    "callers",
    "repo_map",
    "snapshot_diff",
)


class Builder:
    """A database file under construction: statements of `sql/` run on it by name."""

    def __init__(self, connection: Connection, path: Path, dimension: int) -> None:
        self._connection = connection
        self._path = path
        self._dimension = dimension

    def run(self, name: str, **parameters: Any) -> None:
        """Run one file of `sql/`.

        Raises DatabaseError when DuckDB refuses, LakeWriteError when the disk is full.
        """
        text = sql_files.read(name).replace("[dimension]", f"[{self._dimension}]")
        try:
            self._connection.execute(text, parameters)
        except duckdb.IOException as error:
            raise LakeWriteError(str(self._path), str(error)) from error
        except duckdb.Error as error:
            raise DatabaseError(str(self._path), f"{name}: {error}") from error

    def value(self, name: str, **parameters: Any) -> Any:
        """Run one query of `sql/` and return the first value of its first row."""
        self.run(name, **parameters)
        row = self._connection.fetchone()
        return None if row is None else row[0]

    def columns(self, name: str) -> dict[str, Any]:
        """Run one query of `sql/` and return its columns as numpy arrays."""
        self.run(name)
        return self._connection.fetchnumpy()

    def insert(self, table: str, rows: pa.Table) -> None:
        """Append rows that have the table's columns, in order, to the table."""
        relation = self._connection.from_arrow(rows)
        relation.insert_into(table)


@contextmanager
def signals_pass(connection: Connection) -> Iterator[None]:
    """Let through what a signal handler raised during a query, which DuckDB wraps in a RuntimeError.

    The query is stopped: other threads still work at it, and closing the connection would wait for them.
    """
    try:
        yield
    except RuntimeError as error:
        if error.__cause__ is not None and str(error) == "Query interrupted":
            connection.interrupt()
            raise error.__cause__  # noqa: B904  # the RuntimeError says nothing more
        raise


@contextmanager
def build(path: Path, dimension: int, *, memory_limit: str, threads: int) -> Iterator[Builder]:
    """Open a new database file to fill; a failure removes it.

    Raises LakeWriteError when the file cannot be made.
    """
    spill = path.with_name(f"{path.name}.tmp")
    config: dict[str, Any] = {
        "memory_limit": memory_limit,
        "temp_directory": str(spill),
        "preserve_insertion_order": True,
    }
    if threads:
        config["threads"] = threads
    connection: Connection | None = None
    try:
        try:
            connection = duckdb.connect(str(path), config=config)
        except duckdb.Error as error:
            raise LakeWriteError(str(path), str(error)) from error
        with signals_pass(connection):
            yield Builder(connection, path, dimension)
    except BaseException:
        if connection is not None:
            connection.close()
        database_files.discard(path)
        raise
    else:
        connection.close()
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def open_published(data_dir: Path, *, spill_dir: Path | None = None) -> tuple[Connection, Path]:
    """Open the published database read-only; return the connection and the resolved file.

    Raises IndexMissingError before the first publish, LakeFormatError for a database of another
    repolake, DatabaseError when the file cannot be opened.
    """
    path = database_files.published_path(data_dir)
    if path is None:
        raise IndexMissingError(str(data_dir))
    return open_read_only(path, spill_dir=spill_dir), path


def not_answered(path: Path, error: Exception) -> DatabaseError:
    """Return the error of a database that could not answer, with the way out if the file may be at fault."""
    reason = str(error)
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.SerializationException):
        reason = f"{reason}; if the file is damaged, `repolake rebuild` makes it anew from the lake"
    return DatabaseError(str(path), reason)


def open_read_only(path: Path, *, spill_dir: Path | None = None) -> Connection:
    """Open one database file read-only; with a folder to spill to, it shares no process with other readers.

    Raises LakeFormatError for a database of another repolake, DatabaseError when it cannot be opened.
    """
    try:
        config = READ_ONLY_CONFIG | ({"temp_directory": str(spill_dir)} if spill_dir else {})
        connection = duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error as error:
        raise not_answered(path, error) from error
    try:
        row = connection.execute(sql_files.read("queries/schema_version")).fetchone()
    except duckdb.Error as error:
        connection.close()
        raise not_answered(path, error) from error
    found = int(row[0]) if row else 0
    if found != SCHEMA_VERSION:
        connection.close()
        raise LakeFormatError(str(path), found, SCHEMA_VERSION)
    return connection


def limit(connection: Connection, memory_limit: str, threads: int) -> None:
    """Bound what a session may use, unless another session of this process has locked the settings."""
    if connection.execute(sql_files.read("session/is_locked")).fetchone() == (False,):
        connection.execute(sql_files.read("session/memory_limit"), {"memory_limit": memory_limit})
        if threads:
            connection.execute(sql_files.read("session/threads"), {"threads": threads})


def check(path: Path, *, memory_limit: str, threads: int) -> dict[str, list[tuple[Any, ...]]]:
    """Run `sql/checks/*` on a database file; return the first offending rows by check, empty if all is well.

    Raises DatabaseError when the file cannot be read, LakeFormatError for one of another repolake.
    """
    connection = open_read_only(path)
    try:
        limit(connection, memory_limit, threads)
        found = {}
        with signals_pass(connection):
            for name in sql_files.names("checks"):
                rows = connection.execute(sql_files.read(f"checks/{name}")).fetchmany(CHECK_ROWS)
                if rows:
                    found[name] = rows
    except duckdb.Error as error:
        raise not_answered(path, error) from error
    else:
        return found
    finally:
        connection.close()


def rollback(data_dir: Path) -> Path:
    """Publish the newest database file older than the published one; return it.

    Raises IndexMissingError before the first publish, UnknownNameError when there is no older file,
    DatabaseError or LakeFormatError when that one cannot be read.
    """
    current = database_files.published_path(data_dir)
    if current is None:
        raise IndexMissingError(str(data_dir))
    older = sorted(path for path in data_dir.glob("index-*.duckdb") if path.name < current.name)
    if not older:
        raise UnknownNameError(
            f"{data_dir} holds no index older than {current.name}", "nothing was changed; it still answers"
        )
    open_read_only(older[-1]).close()
    database_files.switch(older[-1])
    return older[-1]


def chunk_counts(path: Path) -> dict[str, int]:
    """Return the number of chunks of each current snapshot by snapshot id.

    Raises DatabaseError when the file cannot be read.
    """
    connection = open_read_only(path)
    try:
        return dict(connection.execute(sql_files.read("queries/chunk_counts")).fetchall())
    finally:
        connection.close()


class LakeSession:
    """A DuckDB session of our own that reads the lake, or one database, by the statements of `sql/`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: str = "the lake") -> None:
        self._connection = connection
        self._source = source

    def rows(self, name: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Return all rows of one statement, such as `queries/count_wanted_texts`.

        Raises DatabaseError when DuckDB refuses, for instance over a broken shard.
        """
        try:
            return self._connection.execute(sql_files.read(name), parameters).fetchall()
        except duckdb.Error as error:
            raise DatabaseError(self._source, str(error)) from error

    def stream(self, name: str, batch_rows: int, **parameters: object) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one statement in Arrow batches while DuckDB reads on; nothing is held whole.

        Raises DatabaseError when DuckDB refuses.
        """
        try:
            yield from self._connection.execute(sql_files.read(name), parameters).to_arrow_reader(batch_rows)
        except duckdb.Error as error:
            raise DatabaseError(self._source, str(error)) from error


@contextmanager
def query_lake(scratch_dir: Path, *, threads: int, header: Header = Header.NAME) -> Iterator[LakeSession]:
    """Open a session over the lake, with `embedded_text`; it spills to `scratch_dir` beyond fixed memory."""
    config: dict[str, Any] = {
        "memory_limit": LAKE_MEMORY,
        "temp_directory": str(scratch_dir),
        "threads": threads,
        "preserve_insertion_order": False,
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        for name in sql_files.embedded_text_macros(header):
            connection.execute(sql_files.read(name))
        with signals_pass(connection):
            yield LakeSession(connection)
    finally:
        connection.close()


@contextmanager
def query_published(data_dir: Path, scratch_dir: Path, *, memory_limit: str) -> Iterator[LakeSession]:
    """Open a session over the published database that spills to `scratch_dir` beyond `memory_limit`.

    Raises IndexMissingError before the first publish, LakeFormatError, DatabaseError; also when this process
    has the file open already: DuckDB shares its settings, and others' sessions must not spill.
    """
    connection, path = open_published(data_dir, spill_dir=scratch_dir)
    try:
        limit(connection, memory_limit, 0)
        with signals_pass(connection):
            yield LakeSession(connection, str(path))
    finally:
        connection.close()
