"""`repolake export`: what a store gets whole and since a run, read back by the tools that people use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.lake import Lake
from repolake.records import Failure, RepositorySpec, Stage
from repolake.settings import load_settings

ROOT = Path(__file__).parent.parent
COLUMNS = (
    "chunk_id repository ref commit path start_line end_line symbol symbol_kind kind language signature text "
    "url text_hash model_id is_removed vector"
).split()

Row = dict[str, object]


def repolake(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "repolake", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def index(data: Path, *folders: Path, chunk_tokens: int = 512) -> str:
    """Index repositories with the small model; return the run's id."""
    settings = load_settings(model="fast", data_dir=data, chunk_tokens=chunk_tokens)
    return pipeline.index([RepositorySpec(str(folder)) for folder in folders], settings=settings).run_id


def exported(data: Path, *options: object) -> list[Row]:
    """Return the rows that `export -o -` prints."""
    result = repolake("export", "-o", "-", "--data-dir", data, *options)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def with_changes(store: list[Row], changes: list[Row]) -> list[Row]:
    """What a store does with an export since the run that it has: forget, then replace by id."""
    kept = {row["chunk_id"]: row for row in store}
    for row in changes:
        if row["is_removed"]:
            for chunk_id, old in list(kept.items()):
                if chunk_id == row["chunk_id"] or (
                    row["chunk_id"] is None and old["repository"] == row["repository"]
                ):
                    del kept[chunk_id]
        else:
            kept[row["chunk_id"]] = row
    return sorted(kept.values(), key=lambda row: str(row["chunk_id"]))


def uncited(rows: list[Row]) -> list[Row]:
    """The rows without the commit: an unchanged chunk keeps the citation that it was exported with."""
    return sorted(
        ({key: value for key, value in row.items() if key not in {"commit", "url"}} for row in rows),
        key=lambda row: str(row["chunk_id"]),
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one repository that has a remote."""
    folder = tmp_path_factory.mktemp("export")
    shop = make_repository(folder / "shop")
    git(shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
    index(folder / "data", shop)
    return folder / "data"


def test_a_json_line_has_the_documented_keys_and_cites_the_commit(data: Path):
    rows = exported(data)
    assert all(list(row) == COLUMNS for row in rows)
    [mail] = [row for row in rows if row["path"] == "shop/mail.py"]
    commit_id = git(data.parent / "shop", "rev-parse", "HEAD")
    assert re.fullmatch(r"\d+", str(mail["chunk_id"]))
    assert mail["url"] == f"https://github.com/acme/shop/blob/{commit_id}/shop/mail.py#L1-L3"
    assert (mail["repository"], mail["ref"], mail["commit"]) == ("acme/shop", "main", commit_id)
    assert (mail["start_line"], mail["end_line"], mail["symbol"]) == (1, 3, "send_invoice")
    assert mail["text"] == SHOP["shop/mail.py"].rstrip("\n")
    assert mail["signature"] == "def send_invoice(customer, cart):"
    assert mail["is_removed"] is False


def test_the_vectors_of_json_lines_are_those_of_the_index_to_the_last_bit(data: Path):
    with duckdb.connect(str(data / "index.duckdb"), read_only=True) as connection:
        expected = connection.execute(
            "select chunk_id::varchar, embedding from chunks join embeddings using (text_hash)"
        ).fetchall()
    frame = pl.DataFrame(
        [(row["chunk_id"], row["vector"]) for row in exported(data)],
        schema={"id": pl.String, "vector": pl.List(pl.Float32)},
        orient="row",
    )
    assert dict(frame.rows()) == {chunk_id: list(vector) for chunk_id, vector in expected}


def test_parquet_reads_back_alike_in_pandas_polars_and_duckdb(data: Path, tmp_path: Path):
    file = tmp_path / "chunks.parquet"
    result = repolake("export", "-o", file, "--data-dir", data, "--json")
    report = json.loads(result.stdout)
    with duckdb.connect(str(data / "index.duckdb"), read_only=True) as connection:
        expected = connection.execute("select chunk_id, path, url, text from code order by 1").fetchall()
    assert (report["chunks"], report["removed"], report["file"]) == (len(expected), 0, str(file))
    columns = ["chunk_id", "path", "url", "text"]
    by_polars = pl.read_parquet(file).select(columns).sort("chunk_id").rows()
    by_pandas = pd.read_parquet(file)[columns].sort_values("chunk_id").itertuples(index=False, name=None)
    by_duckdb = duckdb.sql(f"select chunk_id, path, url, text from '{file}' order by 1").fetchall()
    assert by_polars == list(by_pandas) == by_duckdb == expected
    assert str(pq.read_schema(file).field("vector").type) == "fixed_size_list<element: float>[256]"


def test_json_lines_read_back_alike_in_pandas_polars_and_duckdb(data: Path, tmp_path: Path):
    file = tmp_path / "chunks.jsonl"
    assert repolake("export", "-o", file, "--data-dir", data).returncode == 0
    expected = [(row["chunk_id"], row["text"]) for row in exported(data)]
    by_polars = pl.read_ndjson(file).select("chunk_id", "text").rows()
    by_pandas = pd.read_json(file, lines=True, dtype=False)[["chunk_id", "text"]]
    by_duckdb = duckdb.sql(f"select chunk_id::varchar, text from read_json('{file}')").fetchall()
    assert by_polars == list(by_pandas.itertuples(index=False, name=None)) == by_duckdb == expected


def test_a_store_that_applies_the_changes_since_a_run_equals_a_whole_export(tmp_path: Path):
    data = tmp_path / "data"
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def publish_post(post):\n    post.save()\n"})
    first = index(data, shop, blog)
    store = exported(data)
    commit(
        shop,
        {
            "shop/cart.py": "# A comment moves every line.\n"
            + SHOP["shop/cart.py"].replace("Sum over all lines", "Add up all lines"),
            "shop/mail.py": None,
            "shop/stock.py": "def count_stock(article):\n    return article.stock\n",
        },
    )
    index(data, shop)
    changes = exported(data, "--since", first)
    removed = [row["path"] for row in changes if row["is_removed"]]
    sent = {(row["path"], row["symbol"]) for row in changes if not row["is_removed"]}
    assert sorted(set(removed)) == ["shop/cart.py", "shop/mail.py"]
    assert {path for path, _ in sent} == {"shop/cart.py", "shop/stock.py"}
    assert uncited(with_changes(store, changes)) == uncited(exported(data))


def test_since_the_newest_run_nothing_changed(data: Path):
    [manifest] = Lake(data).manifests()
    assert exported(data, "--since", manifest.run_id) == []


def test_a_removed_repository_is_one_row_without_an_id(tmp_path: Path):
    data = tmp_path / "data"
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def publish_post(post):\n    post.save()\n"})
    first = index(data, shop, blog)
    store = exported(data)
    pipeline.remove("blog", settings=load_settings(data_dir=data))
    [row] = exported(data, "--since", first)
    assert (row["chunk_id"], row["repository"], row["is_removed"]) == (None, "blog", True)
    assert uncited(with_changes(store, [row])) == uncited(exported(data))


def test_another_chunking_replaces_every_repository(tmp_path: Path):
    data = tmp_path / "data"
    shop = make_repository(tmp_path / "shop")
    first = index(data, shop)
    store = exported(data)
    index(data, shop, chunk_tokens=64)
    changes = exported(data, "--since", first)
    assert [row["chunk_id"] for row in changes if row["is_removed"]] == [None]
    assert uncited(with_changes(store, changes)) == uncited(exported(data))


def test_what_failed_in_the_earlier_run_is_exported_again(tmp_path: Path):
    data = tmp_path / "data"
    first = index(data, make_repository(tmp_path / "shop"))
    lake = Lake(data)
    [manifest] = lake.manifests()
    failure = Failure("shop", "shop/mail.py", Stage.EMBED, "no memory")
    lake.write_manifest(replace(manifest, failures=(failure,)))
    assert [row["symbol"] for row in exported(data, "--since", first)] == ["send_invoice"]


def test_a_run_that_the_lake_does_not_know_is_refused_with_those_that_it_knows(data: Path, tmp_path: Path):
    file = tmp_path / "chunks.jsonl"
    file.write_text("yesterday's\n")
    result = repolake("export", "--since", "20200101T000000-abcdef", "-o", file, "--data-dir", data)
    assert result.returncode == 2
    assert Lake(data).manifests()[0].run_id in result.stderr
    assert file.read_text() == "yesterday's\n"
    assert list(tmp_path.iterdir()) == [file]


def test_parquet_on_standard_output_is_refused(data: Path):
    result = repolake("export", "--format", "parquet", "-o", "-", "--data-dir", data)
    assert (result.returncode, result.stdout) == (2, "")
    assert "-o FILE" in result.stderr


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(data: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")
    result = repolake("export", "-o", tmp_path / "file" / "chunks.jsonl", "--data-dir", data)
    assert result.returncode == 2
    assert re.fullmatch(r"repolake: cannot write .*\n", result.stderr)


def test_a_reader_that_stops_early_brings_no_traceback(data: Path):
    command = f"{sys.executable} -m repolake export -o - --data-dir {data} | head -n 1"
    result = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert len(result.stdout.splitlines()) == 1
    assert "Traceback" not in result.stderr
