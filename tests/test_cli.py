"""The command line: what it prints, its exit status, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest
from repositories import SHOP, commit, make_repository

from repolake.lake import Lake

ROOT = Path(__file__).parent.parent


def repolake(*arguments: object, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "repolake", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def assert_refused(result: subprocess.CompletedProcess[str], message: str) -> None:
    """Exit status 2, and one sentence on standard error that holds the message."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert re.fullmatch(r"repolake: .*\n", result.stderr), result.stderr
    assert message in result.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the index of one repository."""
    folder = tmp_path_factory.mktemp("cli")
    shop = make_repository(folder / "shop")
    result = repolake("index", shop, "--data-dir", folder / "data")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "published" in result.stdout
    return folder / "data"


def test_help_names_every_command():
    text = repolake("--help").stdout
    for command in ("gc", "index", "remove", "search", "sql", "status"):
        assert f"  {command} " in text


def test_help_imports_nothing_that_takes_long():
    code = (
        "import sys; sys.argv = ['repolake', '--help']\n"
        "from repolake.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'duckdb', 'pyarrow', 'pydantic', 'numpy', 'tree_sitter', 'pygit2', 'tokenizers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)


def test_a_second_index_of_the_same_commit_does_not_import_torch(data: Path):
    code = (
        "import sys; from pathlib import Path\n"
        "from repolake import pipeline; from repolake.settings import load_settings\n"
        f"report = pipeline.index([], settings=load_settings(data_dir=Path({str(data)!r})))\n"
        "assert report.is_unchanged\n"
        "assert 'torch' not in sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_a_search_with_the_static_model_imports_neither_torch_nor_pyarrow(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    repolake("index", shop, "--model", "fast", "--data-dir", tmp_path / "data")
    code = (
        "import sys\n"
        "sys.modules['pandas'] = None  # where it is installed, DuckDB imports it, and it imports pyarrow\n"
        f"sys.argv = ['repolake', 'search', 'invoice', '--data-dir', {str(tmp_path / 'data')!r}]\n"
        "from repolake.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'torch', 'sentence_transformers', 'pyarrow', 'tree_sitter', 'scipy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    assert "send_invoice" in result.stdout


def test_index_prints_json_with_the_documented_keys(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    result = repolake("index", shop, "--model", "fast", "--data-dir", tmp_path / "data", "--json")
    report = json.loads(result.stdout)
    assert set(report) == {"run_id", "repositories", "seconds", "notes"}
    assert set(report["seconds"]) == {"scan", "chunk", "embed", "load", "total"}
    [entry] = report["repositories"]
    assert list(entry) == [
        "repository",
        "ref",
        "commit",
        "files_indexed",
        "files_skipped",
        "chunks",
        "chunks_new",
        "embeddings_new",
        "embeddings_reused",
        "failures",
    ]
    assert (entry["repository"], entry["files_indexed"], entry["files_skipped"]) == ("shop", 4, 1)
    assert entry["failures"] == []


def test_index_with_a_bad_repository_among_good_ones_ends_with_1_and_names_it(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    result = repolake(
        "index", tmp_path / "nowhere", shop, "--model", "fast", "--data-dir", tmp_path / "data", "--json"
    )
    assert result.returncode == 1
    assert "nowhere" in result.stderr
    good, bad = json.loads(result.stdout)["repositories"]
    assert good["repository"] == "shop"
    assert (bad["ref"], bad["chunks"]) == (None, 0)
    assert bad["failures"][0]["path"] == "."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "nowhere"], "nowhere does not exist; name"),
        (["index"], "name a PATH"),
        (["index", "."], "has no indexable file"),
        (["index", ".", "--model", "no/such-model"], "cannot use the model 'no/such-model'"),
        (["index", "a", "b", "--name", "x"], "--name needs exactly one PATH"),
        (["index", "a", "--worktree", "--ref", "main"], "use one of"),
        (["index", "--config", "no.toml"], "cannot read no.toml"),
        (["index", "a", "--config", "no.toml"], "--config takes no PATH"),
        (["search", "cart"], "repolake index PATH"),
        (["sql", "select 1"], "repolake index PATH"),
        (["status"], "repolake index PATH"),
        (["remove", "shop"], "repolake index PATH"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_sentence_with_status_2(tmp_path: Path, arguments: list[str], message: str):
    assert_refused(repolake(*arguments, folder=tmp_path), message)


def test_an_unknown_option_and_a_wrong_choice_are_wrong_usage():
    assert repolake("index", "--modle", "x").returncode == 2
    assert repolake("search", "x", "--mode", "fuzzy").returncode == 2


def test_a_misspelt_setting_is_named_with_its_correction(tmp_path: Path):
    result = repolake("status", folder=tmp_path, REPOLAKE_MODLE="fast")
    assert_refused(result, "did you mean REPOLAKE_MODEL?")


def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    shop = make_repository(tmp_path / "shop")
    result = repolake("index", shop, "--data-dir", tmp_path / "file" / "data")
    assert_refused(result, "--data-dir")


def test_a_second_run_names_the_holder_and_its_start(data: Path):
    with Lake(data).lock():
        result = repolake("index", "--data-dir", data)
    assert_refused(result, f"process {os.getpid()}, started 20")


def test_search_prints_path_lines_symbol_score_and_text(data: Path):
    result = repolake("search", "send_invoice", "--data-dir", data, "-k", 1)
    assert result.returncode == 0, result.stderr
    head, *rest = result.stdout.splitlines()
    assert re.fullmatch(r" 1\. shop/mail\.py:1-3  send_invoice  0\.\d{4}  shop@main", head)
    assert rest[0] == "    def send_invoice(customer, cart):"
    explained = repolake("search", "send_invoice", "--data-dir", data, "-k", 1, "--explain").stdout
    assert re.search(r"text rank 1 \(BM25 [\d.]+\) · vector rank \d+ \(cosine [\d.]+\)", explained)


def test_search_json_has_the_result_columns_and_ids_as_strings(data: Path):
    hits = json.loads(repolake("search", "send_invoice", "--data-dir", data, "-k", 2, "--json").stdout)
    assert (
        list(hits[0])
        == (
            "rank score chunk_id repository ref commit path start_line end_line symbol symbol_kind kind "
            "language signature text url text_rank text_score vector_rank vector_score"
        ).split()
    )
    assert re.fullmatch(r"\d+", hits[0]["chunk_id"])
    assert [hit["rank"] for hit in hits] == [1, 2]


def test_search_filters_narrow_the_hits(data: Path):
    def found(*arguments: str) -> set[str]:
        result = repolake("search", "cart", "--data-dir", data, "--mode", "text", "--json", *arguments)
        return {hit["path"] for hit in json.loads(result.stdout)}

    assert found("--kind", "test") == {"tests/test_cart.py"}
    assert found("--path", "shop/") <= {"shop/cart.py", "shop/mail.py"}
    assert found("--path-glob", "**/mail.py") == {"shop/mail.py"}
    assert found("--symbol", "send_invoice") == {"shop/mail.py"}
    assert found("--language", "markdown") <= {"README.md"}


def test_search_for_nothing_and_in_an_unknown_repository_is_refused(data: Path):
    assert_refused(repolake("search", " ", "--data-dir", data), "query")
    assert_refused(repolake("search", "x", "--data-dir", data, "--repository", "blog"), "blog")


def test_sql_writes_every_format(data: Path, tmp_path: Path):
    query = "select path, count(*) as chunks from code group by path order by path"
    with duckdb.connect(str(data / "index.duckdb"), read_only=True) as connection:
        expected = connection.execute(query).fetchall()
    table = repolake("sql", query, "--data-dir", data)
    assert table.stdout.splitlines()[0].split() == ["path", "chunks"]
    assert table.stdout.splitlines()[-1] == f"{len(expected)} rows"
    rows = json.loads(repolake("sql", query, "--data-dir", data, "--json").stdout)
    assert [(row["path"], row["chunks"]) for row in rows] == expected
    csv = repolake("sql", query, "--data-dir", data, "--format", "csv").stdout
    assert csv.splitlines()[0] == '"path","chunks"'
    file = tmp_path / "out.parquet"
    assert repolake("sql", query, "--data-dir", data, "-o", file).returncode == 0
    assert pl.read_parquet(file).rows() == expected


def test_sql_reads_a_statement_from_standard_input(data: Path):
    result = subprocess.run(
        [sys.executable, "-m", "repolake", "sql", "--data-dir", str(data), "--format", "csv"],
        cwd=ROOT,
        input="select 6 * 7 as answer",
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == '"answer"\n42\n'


def test_sql_refuses_what_is_wrong_and_what_would_write(data: Path):
    assert_refused(repolake("sql", "selec 1", "--data-dir", data), "selec")
    assert_refused(repolake("sql", "drop table chunks", "--data-dir", data), "")
    assert_refused(repolake("sql", "select 1", "--format", "parquet", "--data-dir", data), "-o FILE")


def test_sql_can_embed_a_query(data: Path):
    query = "select symbol from search('mail the bill to a customer', k := 1)"
    assert json.loads(repolake("sql", query, "--data-dir", data, "--json").stdout) == [
        {"symbol": "send_invoice"}
    ]


def test_ids_in_sql_json_are_strings(data: Path):
    query = "select chunk_id, start_line from code limit 1"
    [row] = json.loads(repolake("sql", query, "--data-dir", data, "--format", "json").stdout)
    assert isinstance(row["chunk_id"], str)
    assert isinstance(row["start_line"], int)


def test_status_shows_what_the_index_holds(data: Path):
    status = json.loads(repolake("status", "--data-dir", data, "--json").stdout)
    [entry] = status["repositories"]
    [ref] = entry["refs"]
    assert (entry["repository"], ref["ref"], ref["files_indexed"], ref["files_skipped"]) == (
        "shop",
        "main",
        4,
        1,
    )
    assert ref["chunks"] > 4
    assert sum(status["skips"].values()) == 1
    assert status["model"] == "minilm"
    assert status["failures"] == []
    text = repolake("status", "--data-dir", data).stdout
    for word in ("minilm", "shop", "main", "complete"):
        assert word in text


def test_status_fails_for_a_stale_repository(data: Path):
    assert repolake("status", "--data-dir", data, "--fail-if-stale", 1).returncode == 0
    stale = repolake("status", "--data-dir", data, "--fail-if-stale", 0)
    assert stale.returncode == 1
    assert "shop was last indexed more than 0 hours ago" in stale.stderr


def test_gc_says_what_it_removed_and_refuses_a_blob_that_nobody_knows(data: Path):
    report = json.loads(repolake("gc", "--data-dir", data, "--json").stdout)
    assert report["removed"] == {}
    assert report["lake_bytes"] > 0
    assert_refused(repolake("gc", "--purge-blob", "f" * 40, "--data-dir", data), "holds no blob")
    text = repolake("gc", "--data-dir", data).stdout
    assert text.startswith("removed nothing; wrote 0 compacted shards\n")


@pytest.mark.parametrize(
    ("number", "stage"), [(signal.SIGINT, "chunk"), (signal.SIGTERM, "chunk"), (signal.SIGTERM, "load")]
)
def test_an_interrupted_run_ends_with_one_sentence_and_keeps_the_index(
    tmp_path: Path, number: signal.Signals, stage: str
):
    shop = make_repository(tmp_path / "shop")
    data = tmp_path / "data"
    assert repolake("index", shop, "--model", "fast", "--data-dir", data).returncode == 0
    published = (data / "index.duckdb").resolve()
    commit(shop, {f"many/file{i}.py": SHOP["shop/cart.py"].replace("Cart", f"Cart{i}") for i in range(300)})
    process = subprocess.Popen(
        [sys.executable, "-m", "repolake", "index", str(shop), "--data-dir", str(data)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    lake = Lake(data)

    def has_begun() -> bool:
        if stage == "load":
            return any(data.glob("_index-*.duckdb"))
        manifest = lake.latest_manifest()
        return manifest is not None and manifest.state == "running"

    while not has_begun():
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.02)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert out == ""
    assert re.fullmatch(r"repolake: interrupted; .*\n", err), err
    assert (data / "index.duckdb").resolve() == published
    assert list(data.glob("_index-*")) == []
