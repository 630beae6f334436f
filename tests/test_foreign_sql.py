"""What a stranger's SQL may do in a session, and what it may not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece

from repolake import database, database_files
from repolake.errors import DatabaseError, QueryError, QueryTimeoutError
from repolake.load import load
from repolake.progress import SilentProgress
from repolake.search import Index, open_index
from repolake.session import Session, open_session
from repolake.settings import Settings


def east(_: str) -> list[float]:
    return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    builder = LakeBuilder(folder)
    builder.add("r", [File("a.py", [Piece("def alpha(): ...", "alpha", "function", vector=(1, 0, 0))])])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    return folder


@pytest.fixture(scope="module")
def index(data_dir: Path) -> Iterator[Index]:
    with open_index(data_dir, settings=Settings(threads=1), embed_query=east) as opened:
        yield opened


@pytest.mark.parametrize(
    "statement",
    [
        "select * from enable_logging(storage = 'file', storage_path = '/tmp/log.csv')",
        "select * from Enable_Logging /* so */ ('QueryLog')",
        "from main.\"enable_logging\"('QueryLog')",
        "create temp macro m() as table select * from enable_logging('QueryLog')",
        "select * from (values (1)) as t, lateral (select * from duckdb_logs ()) as x",
        "from arrow_scan(1, 2, 3)",
        "from pandas_scan(1)",
        "from query('select * from enable_' || 'logging()')",
        "select 'é', 'ü'; from query('select 1')",
        "from enable_profiling(save_location = '/tmp/profile.json')",
        "call enable_logging('QueryLog')",
        "pragma enable_verification",
        "set variable x = 1",
        "prepare p as select 1",
        "begin",
        "vacuum",
        "use memory",
        "load json",
        "attach ':memory:' as other",
        "select 1; set search_path = 'temp'",
        "create table memory.main.x as select 1",
        "update chunks set text = ''",
        "from sniff_csv('/etc/passwd')",
        "from glob('/etc/*')",
        "from read_blob('/etc/passwd')",
        "from read_duckdb('/tmp/other.duckdb')",
        "from parquet_metadata('/etc/passwd')",
        "create secret (type s3, key_id 'x', secret 'y')",
        "import database '/tmp/all'",
        "select * from parameters",
        "",
        "-- nothing",
    ],
)
def test_what_reaches_below_reading_is_refused_and_the_session_goes_on(index: Index, statement: str) -> None:
    with pytest.raises(QueryError):
        index.sql(statement)
    assert index.sql("select symbol from code").column(0).to_pylist() == ["alpha"]


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("select 'enable_logging(' as text", "enable_logging("),
        ("select 'é' as \"query\" -- query(", "é"),
        ('with "query" as (select 7 as n) select n from "query"', 7),
        ("pivot (select 'a' as k, 3 as v) on k using sum(v)", 3),
        ("select symbol from search('alpha')", "alpha"),
        ("select symbol from search_text($1)", "alpha"),
    ],
)
def test_what_only_reads_runs_though_it_names_forbidden_functions(
    index: Index, statement: str, first: object
) -> None:
    parameters = ["alpha"] if "$1" in statement else None
    assert index.sql(statement, parameters).column(0)[0].as_py() == first
    assert index.sql("explain select 1").num_rows == 1


def test_what_one_statement_makes_is_gone_for_the_next(index: Index) -> None:
    index.sql("create temp table postings as select 1 as nothing; select * from postings")
    assert index.sql("select symbol from search('alpha')").num_rows == 1
    with pytest.raises(QueryError, match="nothing"):
        index.sql("select nothing from postings")


def test_a_session_keeps_to_its_threads_and_its_memory(data_dir: Path, tmp_path: Path) -> None:
    settings = Settings(threads=3, search_memory="50MB")
    with open_index(own_copy(data_dir, tmp_path), settings=settings, embed_query=east) as small:
        assert small.sql("select current_setting('threads') as n").column(0).to_pylist() == [3]
        with pytest.raises(DatabaseError, match="memory"):
            small.sql("select hash(range) as h from range(9_000_000) order by h limit 8_000_000")


def test_a_result_larger_than_the_memory_of_a_session_is_refused(data_dir: Path) -> None:
    with (
        open_index(data_dir, settings=Settings(search_memory="0.04GiB"), embed_query=east) as small,
        pytest.raises(QueryError, match="larger than"),
    ):
        small.sql("select range from range(1_000_000_000)")


@pytest.mark.parametrize(
    ("text", "size"), [("50MB", 50_000_000), ("4GB", 4_000_000_000), ("1.5 KiB", 1536), ("2TiB", 2 << 40)]
)
def test_memory_is_read_as_duckdb_reads_it(text: str, size: int) -> None:
    assert Settings(search_memory=text).search_memory_bytes == size


def test_sessions_of_one_process_do_not_need_the_same_settings(data_dir: Path, index: Index) -> None:
    with open_index(data_dir, settings=Settings(threads=2, search_memory="1GB"), embed_query=east) as other:
        assert [hit.symbol for hit in other.search("alpha")] == [hit.symbol for hit in index.search("alpha")]


def test_a_database_can_be_checked_and_counted_while_a_session_reads_it(index: Index) -> None:
    assert database.check(index.path, memory_limit="1GB", threads=1) == {}
    assert list(database.chunk_counts(index.path).values()) == [1]
    assert index.search("alpha")


def test_a_session_that_closes_does_not_take_the_model_of_another_with_it(data_dir: Path) -> None:
    first = open_index(data_dir, embed_query=east)
    with open_index(data_dir, embed_query=east) as second:
        first.close()
        assert second.sql("select symbol from search('alpha')").num_rows == 1


class SlowModel:
    """A model that takes its time to load and to encode."""

    def __init__(self, load_seconds: float, encode_seconds: float) -> None:
        self._load_seconds = load_seconds
        self._encode_seconds = encode_seconds

    def load(self) -> None:
        time.sleep(self._load_seconds)

    def embed(self, _: str) -> list[float]:
        time.sleep(self._encode_seconds)
        return [1.0, 0.0, 0.0]


def no_scores(_name: str, _query: str, _passages: list[dict[str, str | None]]) -> list[float]:
    return []


def opened(data_dir: Path, model: SlowModel) -> Session:
    session = open_session(data_dir, Settings(query_timeout_seconds=1.0))
    session.register_models(model.embed, model.load, 3, no_scores)
    return session


def own_copy(data_dir: Path, folder: Path) -> Path:
    """Return a folder with the same database, that no other session of this process has opened."""
    (folder / "index-x.duckdb").write_bytes((data_dir / "index.duckdb").read_bytes())
    database_files.switch(folder / "index-x.duckdb")
    return folder


def test_the_first_load_of_the_model_does_not_count_as_the_time_of_a_query(
    data_dir: Path, tmp_path: Path
) -> None:
    session = opened(own_copy(data_dir, tmp_path), SlowModel(2.0, 0.0))
    assert session.sql("select embed('alpha')", None).num_rows == 1
    session.close()


def test_the_time_of_encoding_counts(data_dir: Path, tmp_path: Path) -> None:
    session = opened(own_copy(data_dir, tmp_path), SlowModel(0.0, 2.0))
    with pytest.raises(QueryTimeoutError):
        session.sql("select embed('alpha') from range(3000)", None)
    session.close()


def test_an_interrupted_query_leaves_a_session_that_answers(data_dir: Path, tmp_path: Path) -> None:
    session = opened(own_copy(data_dir, tmp_path), SlowModel(0.0, 0.0))
    with pytest.raises(QueryTimeoutError):
        session.sql("select range from range(100_000_000_000) where range < 0", None)
    assert session.sql("select 1", None).num_rows == 1
    session.close()
