"""Rewrites the shards of a folder without dead rows, and many small ones as few; old ones are left to remove.

The new shards are written and flushed before an old one goes, and rows are unique by key to every reader, so
that a crash at any instant loses nothing and leaves at most rows that stand twice until the next gc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from repolake.shards import SHARD_BYTES, ShardWriter, read_shard

SMALL_BYTES = SHARD_BYTES // 4
MAX_SMALL_SHARDS = 8
DEAD_SHARE = 0.25  # of a shard's rows: rewriting less would write much to free little


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction of one folder gave: shards that may go now, and how many took their place."""

    obsolete: tuple[Path, ...] = ()
    shards_written: int = 0


@dataclass(frozen=True, slots=True)
class _Shard:
    path: Path
    live_keys: pa.Array
    row_count: int
    live_count: int
    size_bytes: int

    @property
    def dead_count(self) -> int:
        return self.row_count - self.live_count


def key_of(table: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """Return one string per row that stands for the values of its key columns."""
    if len(columns) == 1:
        return table[columns[0]]
    return pc.binary_join_element_wise(*(table[name] for name in columns), "\n")


def compact(
    shards: Sequence[Path], schema: pa.Schema, columns: Sequence[str], live: pa.Array, *, is_thorough: bool
) -> Compacted:
    """Rewrite shards of one folder so that few are small and few rows are dead; remove nothing yet.

    A row is live if its key is in `live` and no earlier shard has that key. A shard without live rows is
    obsolete; one with many dead rows (with any, if thorough) is rewritten, and so are the small ones when
    there are more than a few. All rows of a key that a shard holds stay together.

    Raises LakeReadError for a damaged shard, LakeWriteError when the folder cannot be written.
    """
    examined = _examine(shards, columns, live)
    obsolete = [shard for shard in examined if not shard.live_count]
    used = [shard for shard in examined if shard.live_count]
    chosen = [
        shard
        for shard in used
        if shard.dead_count and (is_thorough or shard.dead_count >= DEAD_SHARE * shard.row_count)
    ]
    small = [shard for shard in used if shard.size_bytes < SMALL_BYTES]
    if len(small) > MAX_SMALL_SHARDS:
        chosen += [shard for shard in small if shard not in chosen]
    if not chosen:
        return Compacted(tuple(shard.path for shard in obsolete))
    before = set(shards[0].parent.iterdir())
    writer = ShardWriter(shards[0].parent, schema)
    for shard in chosen:
        table = read_shard(shard.path)
        writer.add(table.filter(pc.is_in(key_of(table, columns), value_set=shard.live_keys)))
    writer.flush()
    written = len(set(shards[0].parent.iterdir()) - before)
    return Compacted(tuple(shard.path for shard in (*obsolete, *chosen)), written)


def _examine(shards: Sequence[Path], columns: Sequence[str], live: pa.Array) -> list[_Shard]:
    keys = []
    for number, path in enumerate(shards):
        key = key_of(read_shard(path, columns=list(columns)), columns).combine_chunks()
        keys.append(pa.table({"key": key, "shard": pa.repeat(pa.scalar(number, pa.int32()), len(key))}))
    if not keys:
        return []
    known = pa.concat_tables(keys)
    known = known.filter(pc.is_in(known["key"], value_set=live))
    first = known.group_by("key").aggregate([("shard", "min")])
    found = []
    for number, path in enumerate(shards):
        own = first.filter(pc.equal(first["shard_min"], number))["key"].combine_chunks()
        metadata = pq.read_metadata(path)
        found.append(
            _Shard(
                path=path,
                live_keys=own,
                row_count=metadata.num_rows,
                live_count=pc.sum(pc.is_in(keys[number]["key"], value_set=own)).as_py() or 0,
                size_bytes=sum(
                    metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
                ),
            )
        )
    return found
