"""Whether two published databases are equal: all rows but those about runs and times (see the README).

Embeddings are equal by key and by cosine similarity of at least 0.9999: batches differ in their last bits.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

LEAST_COSINE = 0.9999
OTHER_TABLES = ("runs", "run_stages", "embeddings")


def differences(one: Path, other: Path) -> list[str]:
    """Return one line for each way in which two database files differ; none if they are equal."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{one}' as one (read_only)")
        connection.execute(f"attach '{other}' as other (read_only)")
        columns = _columns(connection, "one")
        if columns != _columns(connection, "other"):
            return ["the databases have different tables or columns"]
        found = []
        for table, names in columns.items():
            if table in OTHER_TABLES:
                continue
            kept = ", ".join(f'"{name}"' for name in names if name != "run_id" and not name.endswith("_at"))
            for left, right in (("one", "other"), ("other", "one")):
                rows = connection.execute(
                    f"select {kept} from {left}.main.{table} "
                    f"except all select {kept} from {right}.main.{table} limit 3"
                ).fetchall()
                if rows:
                    found.append(f"{table}: only in {left}: {rows}")
        return found + _embedding_differences(connection)


def _columns(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, list[str]]:
    rows = connection.execute(
        "select table_name, list(column_name order by column_index) from duckdb_columns() "
        "where database_name = ? and table_name in (select table_name from duckdb_tables()) "
        "group by all order by all",
        [database],
    ).fetchall()
    return dict(rows)


def _embedding_differences(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "select text_hash, array_cosine_similarity(l.embedding, r.embedding) as cosine "
        "from one.main.embeddings as l full join other.main.embeddings as r using (text_hash) "
        "where cosine is null or cosine < ? limit 3",
        [LEAST_COSINE],
    ).fetchall()
    return [f"embeddings: {text_hash}: cosine {cosine}" for text_hash, cosine in rows]
