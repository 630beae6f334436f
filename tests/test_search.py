"""Searches on small databases: words, vectors, both, filters, and queries from anyone."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece

from repolake.database_files import switch
from repolake.errors import DatabaseError, ModelError, QueryError, QueryTimeoutError, UnknownNameError
from repolake.load import load
from repolake.progress import SilentProgress
from repolake.search import Index, open_index
from repolake.settings import Settings

HALF = 0.7071068


def east(_: str) -> list[float]:
    return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    data_dir = tmp_path_factory.mktemp("data")
    builder = LakeBuilder(data_dir)
    builder.add(
        "acme/shop",
        [
            File(
                "src/users.py",
                [
                    Piece("def getUserById(key): ...", "getUserById", "function", vector=(1, 0, 0)),
                    Piece("def parse_http2_frame(data): ...", "parse_http2_frame", vector=(HALF, HALF, 0)),
                    Piece("utf8_len = 3\nk8s = 'café'", vector=(0, 1, 0)),
                ],
            ),
            File("a_b/one.py", [Piece("alpha shared in_a_b", vector=(0, 0, 1))]),
            File("axb/one.py", [Piece("alpha shared axb", vector=(0, 0, 1))]),
            File("100%/one.py", [Piece("alpha shared in_percent", vector=(0, 0, 1))]),
            File("100x/one.py", [Piece("alpha shared in_x", vector=(0, 0, 1))]),
            File("src/one.py", [Piece("s = [s for s in s if k]\nk = s")]),
            File("lib/v9/one.py", [Piece("frobnicate frobnicate widgets widgets")]),
            File("lib/v10/one.py", [Piece("frobnicate widgets and other things too")]),
            File("other/v2/one.py", [Piece("gyrate gyrate")]),
            File("third/v3/one.py", [Piece("gyrate many things here")]),
            File("src/greet.py", [Piece("print('世界你好')", "greet_zh", vector=(0, 0, 1))]),
            File(
                "src/errors.py",
                [Piece("class HTTPServerError: code = 500", "HTTPServerError", "class", vector=(0, 0, 1))],
            ),
            File("tests/test_users.py", [Piece("getUserById(1)", "test_get", vector=(1, 0, 0))], kind="test"),
        ],
        remote_url="git@github.com:acme/shop.git",
        skipped={"logo.png": ("binary", "*.png")},
        unreadable={"locked.py": "permission denied"},
    )
    builder.add("acme/shop", [File("src/new.py", [Piece("only_on_branch = 1")])], ref="dev", commit="c" * 40)
    builder.add(
        "acme/shop", [File("src/old.py", [Piece("long_gone = 1")])], commit="d" * 40, is_current=False
    )
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(data_dir, embed_query=east) as opened:
        yield opened


def found(index: Index, query: str, mode: str = "text", **filters: str) -> list[str]:
    return [hit.path for hit in index.search(query, mode=mode, **filters)]


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("user by id", "getUserById"),
        ("getUserById", "getUserById"),
        ("getuserbyid", "getUserById"),
        ("server error", "HTTPServerError"),
        ("servers errors", "HTTPServerError"),
        ("PARSE_HTTP2_FRAME", "parse_http2_frame"),
        ("http2", "parse_http2_frame"),
        ("\uff48\uff54\uff54\uff50\uff12", "parse_http2_frame"),
        ("500", "HTTPServerError"),
        ("世界", "greet_zh"),
        ("界", "greet_zh"),
    ],
)
def test_words_find_identifiers_whole_and_in_parts(index: Index, query: str, symbol: str) -> None:
    assert index.search(query, mode="text", kind="source")[0].symbol == symbol


def test_accents_and_their_spelling_do_not_matter(index: Index) -> None:
    assert found(index, "cafe") == found(index, "café") == found(index, "cafe\u0301") == ["src/users.py"]


def test_single_letters_of_a_word_with_digits_are_no_words_of_their_own(index: Index) -> None:
    assert found(index, "k8s") == ["src/users.py"]


def test_a_query_has_no_empty_words(index: Index) -> None:
    rows = index.sql("select words from main.query_words('  open   the $$ http2 ')").to_pylist()
    assert rows[0]["words"] == ["open", "the", "http2", "http", "2"]


def test_a_number_that_no_chunk_holds_finds_nothing(index: Index) -> None:
    assert found(index, "77") == []


def test_vectors_come_nearest_first(index: Index) -> None:
    hits = index.search("x", mode="vector", path="src/users.py")
    assert [hit.vector_score for hit in hits] == [1.0, pytest.approx(HALF, abs=1e-6), 0.0]
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_tests_stand_below_source_unless_asked_for(index: Index) -> None:
    assert found(index, "getUserById", "hybrid")[0] == "src/users.py"
    assert found(index, "getUserById", "hybrid", kind="test") == ["tests/test_users.py"]


def test_an_older_version_of_a_folder_stands_below_its_newer_neighbour_unless_named(index: Index) -> None:
    versions = {"mode": "hybrid", "path": "lib/"}
    assert found(index, "frobnicate widgets", **versions) == ["lib/v10/one.py", "lib/v9/one.py"]
    assert found(index, "frobnicate widgets in V9", **versions) == ["lib/v9/one.py", "lib/v10/one.py"]
    # Versions of different things are no neighbours.
    assert found(index, "gyrate", "hybrid", path_glob="*/v?/one.py")[0] == "other/v2/one.py"


def test_filters_take_underscore_and_percent_as_they_are(index: Index) -> None:
    assert found(index, "alpha shared", path="a_b/") == ["a_b/one.py"]
    assert found(index, "alpha shared", path="./a_b/") == ["a_b/one.py"]
    assert found(index, "alpha shared", path="100%/") == ["100%/one.py"]
    assert found(index, "alpha shared", path_glob="a_b/*.py") == ["a_b/one.py"]
    assert found(index, "alpha shared", path="A_B/") == []
    assert found(index, "alpha shared", path="../") == []


def test_stars_in_globs_stay_within_a_folder_and_double_stars_do_not(index: Index) -> None:
    assert found(index, "alpha", path_glob="*.py") == []
    assert len(found(index, "alpha", path_glob="**/*.py")) == 4
    assert found(index, "alpha", path_glob="a?b/**") != []
    assert found(index, "utf8", path_glob="src/**/users.py") == ["src/users.py"]


def test_a_ref_shows_only_its_own_chunks(index: Index) -> None:
    assert found(index, "only_on_branch") == []
    assert (
        found(index, "only_on_branch", ref="dev") == found(index, "only_on_branch", ref="*") == ["src/new.py"]
    )
    assert found(index, "utf8", ref="dev") == []
    assert found(index, "long_gone", ref="*") == []


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\0"])
def test_a_blank_query_is_refused(index: Index, query: str) -> None:
    with pytest.raises(QueryError, match="empty"):
        index.search(query)


@pytest.mark.parametrize(
    "query",
    [
        "🙂", "👨‍👩‍👧", "...", "->", "'; DROP TABLE chunks; --", '" OR 1=1', "%", "_", "\\", "$1", "?", "{0}",
        "read_csv('/etc/passwd')", "/* */", "a\0b", "\ud800 x", "x " * 10_000, "(", "[a-", "the of and",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
def test_any_other_query_has_an_answer(index: Index, query: str, mode: str) -> None:
    hits = index.search(query, mode=mode)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert len(hits) == 0 or mode != "text" or hits[0].text_score is not None


def test_a_query_without_words_is_ordered_by_meaning_and_says_so(index: Index) -> None:
    hits = index.search("🙂")
    assert hits
    assert hits.notes == ("no word of the query stands in the index: ordered by meaning alone",)


def test_filters_without_meaning_are_refused(index: Index) -> None:
    with pytest.raises(UnknownNameError, match="acme/shop"):
        index.search("x", repository="acme/shops")
    with pytest.raises(UnknownNameError, match="dev"):
        index.search("x", ref="develop")
    with pytest.raises(QueryError, match="source"):
        index.search("x", kind="tests")
    with pytest.raises(QueryError, match="path_glob"):
        index.search("x", glob="*")
    with pytest.raises(QueryError):
        index.search("x", k=0)


@pytest.mark.parametrize(
    "statement",
    [
        "create table main.x as select 1",
        "delete from chunks",
        "insert into chunk_words values (1, 'x')",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "copy (select 1) to '/tmp/stolen.csv'",
        "attach '/tmp/other.duckdb'",
        "install httpfs",
        "load fts",
        "set enable_external_access = true",
        "set memory_limit = '100GB'",
        "set lock_configuration = false",
        "export database '/tmp/all'",
        "select",
        "select no_such_column from code",
    ],
)
def test_foreign_sql_cannot_write_read_files_or_change_settings(index: Index, statement: str) -> None:
    with pytest.raises(QueryError):
        index.sql(statement)


def test_temporary_tables_of_the_connection_do_not_change_what_searches_read(index: Index) -> None:
    before = [hit.chunk_id for hit in index.search("user")]
    index.connection.execute("create temp table postings as select 1 as nothing")
    index.connection.execute("create temp table current_chunks as select 1 as nothing")
    after = [hit.chunk_id for hit in index.search("user")]
    in_sql = index.sql("select chunk_id from search('user')").column(0).to_pylist()
    index.connection.execute("drop table temp.postings; drop table temp.current_chunks")
    assert before == after == in_sql


def test_a_query_that_runs_too_long_is_stopped(tmp_path: Path) -> None:
    builder = LakeBuilder(tmp_path)
    builder.add("r", [File("a.py", [Piece("x = 1")])])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    settings = Settings(query_timeout_seconds=0.3)
    with (
        open_index(tmp_path, settings=settings, embed_query=east) as hurried,
        pytest.raises(QueryTimeoutError),
    ):
        hurried.sql(
            "select count(*) from range(10_000_000) as a, range(10_000_000) as b where a.range + b.range = 7"
        )


def test_a_broken_connection_is_an_error_and_no_empty_answer(index: Index) -> None:
    broken = open_index(index.path.parent, embed_query=east)
    broken.close()
    with pytest.raises(DatabaseError):
        broken.search("user")


def test_search_in_sql_gives_the_same_as_in_python(index: Index) -> None:
    rows = index.sql("select chunk_id from search($text, k := 3)", {"text": "user by id"}).to_pylist()
    assert [row["chunk_id"] for row in rows] == [hit.chunk_id for hit in index.search("user by id", k=3)]


def test_the_inventory_shows_each_path_once(index: Index) -> None:
    rows = index.sql("select path, decision from inventory where path not like '%one.py'").to_pylist()
    assert {row["path"]: row["decision"] for row in rows} == {
        "src/users.py": "indexed", "src/greet.py": "indexed", "src/errors.py": "indexed",
        "tests/test_users.py": "indexed", "logo.png": "skipped", "locked.py": "failed",
    }  # fmt: skip


def test_links_lead_to_the_lines_at_the_commit(index: Index) -> None:
    hit = index.search("utf8")[0]
    assert hit.url == f"https://github.com/acme/shop/blob/{'a' * 40}/src/users.py#L1-L2"


def test_grep_gives_lines_with_their_symbol(index: Index) -> None:
    rows = index.sql("select path, line, text, symbol from main.grep('k8s\\s*=')").to_pylist()
    assert rows == [{"path": "src/users.py", "line": 2, "text": "k8s = 'café'", "symbol": "<module>"}]


def test_similar_chunks_leaves_out_the_chunk_itself(index: Index) -> None:
    origin = index.search("getUserById", kind="source")[0].chunk_id
    rows = index.sql("select symbol from main.similar_chunks($id, k := 2)", {"id": origin}).to_pylist()
    assert [row["symbol"] for row in rows] == ["test_get", "parse_http2_frame"]


def test_every_table_column_view_and_macro_carries_a_comment(index: Index) -> None:
    bare = index.sql(
        """
        select table_name as name from duckdb_tables()
        where not internal and not temporary and comment is null
        union all
        select table_name || '.' || column_name from duckdb_columns()
        where table_name in (select table_name from duckdb_tables() where not temporary) and comment is null
        union all
        select view_name from duckdb_views() where not internal and comment is null
        union all
        select function_name from duckdb_functions()
        where function_type like '%macro' and not internal and comment is null
            and not function_name = 'search'
        """
    ).to_pylist()
    assert bare == []


def test_one_query_gives_the_same_answer_a_hundred_times_on_one_and_two_threads(tmp_path: Path) -> None:
    builder = LakeBuilder(tmp_path)
    pieces = [
        Piece(f"retry {'again ' * (n % 5)}{n % 7}", f"retry_{n % 3}", "function", vector=(1, 0, 0))
        for n in range(300)
    ]
    builder.add("r", [File(f"part{n}.py", pieces[n * 3 : n * 3 + 3]) for n in range(100)])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    answers = set()
    for threads, times in ((1, 20), (2, 100)):
        with open_index(tmp_path, settings=Settings(threads=threads), embed_query=east) as opened:
            for _ in range(times):
                hits = opened.search("retry again 3", k=30)
                answers.add(tuple((hit.chunk_id, hit.score, hit.text_rank, hit.vector_rank) for hit in hits))
    assert len(answers) == 1
    [answer] = answers
    assert len(answer) == 30


def test_a_chunk_that_both_arms_find_stands_once_and_above_those_that_one_arm_finds(tmp_path: Path) -> None:
    builder = LakeBuilder(tmp_path)
    files = {
        "both.py": Piece("zebra", "one", vector=(1, 0, 0)),
        "words.py": Piece("zebra", "two", vector=(0, 1, 0)),
        "meaning.py": Piece("horse", "three", vector=(1, 0, 0)),
    }
    builder.add("r", [File(path, [piece]) for path, piece in files.items()])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(tmp_path, embed_query=east) as opened:
        hits = opened.search("zebra")
    assert [hit.path for hit in hits].count("both.py") == 1
    assert hits[0].path == "both.py"
    assert {hit.path for hit in hits} == set(files)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_rarest_words_come_first_however_common_the_others_are(index: Index) -> None:
    assert found(index, "self not in the get value HTTPServerError")[0] == "src/errors.py"
    assert found(index, "the parse frame")[0] == "src/users.py"


def broken(_: str) -> list[float]:
    raise ModelError("tiny", "its file is gone")


def test_without_the_model_words_answer_in_their_order_with_a_note(index: Index, tmp_path: Path) -> None:
    copy = tmp_path / "index-x.duckdb"
    copy.write_bytes(index.path.read_bytes())
    switch(copy)
    with open_index(tmp_path, embed_query=broken) as words_only:
        hits = words_only.search("alpha shared", path_glob="*/one.py")
        assert [hit.path for hit in hits] == found(index, "alpha shared", path_glob="*/one.py")
        assert hits.notes[0].startswith("words only: ")
        with pytest.raises(ModelError):
            words_only.search("alpha shared", mode="vector")
        with pytest.raises(ModelError):
            words_only.search("xyzzyplugh")


def test_what_a_signal_handler_raises_comes_through_a_query(index: Index):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            index.sql("select count(*) from range(1_000_000_000_000) where range % 7 = 3")
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert index.sql("select 1 as one").to_pylist() == [{"one": 1}]
