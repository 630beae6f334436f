"""Other programs that read the published file: plain DuckDB, ATTACH, pandas, Polars; and its reference."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from sql_reference import ROOT, SECTION, make_database, reference

FIND = "select symbol from search_text('alpha')"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_database(tmp_path_factory.mktemp("data"))


def test_the_reference_in_the_readme_is_that_of_the_catalogue(path: Path) -> None:
    [section] = SECTION.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert section == reference(path)


def test_plain_duckdb_searches_without_any_extension(path: Path) -> None:
    config = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with duckdb.connect(str(path), read_only=True, config=config) as plain:
        before = plain.execute("select extension_name from duckdb_extensions() where loaded").fetchall()
        assert plain.execute(FIND).fetchall() == [("alpha",)]
        hybrid = "select symbol from search_hybrid('alpha', [1, 0, 0])"
        assert plain.execute(hybrid).fetchall() == [("alpha",)]
        assert (
            plain.execute("select extension_name from duckdb_extensions() where loaded").fetchall() == before
        )


def test_an_attached_file_needs_use_before_its_macros_run(path: Path) -> None:
    with duckdb.connect() as plain:
        plain.execute(f"attach '{path}' as lake (read_only)")
        assert plain.execute("select symbol from lake.code").fetchall() == [("alpha",)]
        with pytest.raises(duckdb.Error):
            plain.execute("select symbol from lake.search_text('alpha')").fetchall()
        plain.execute("use lake")
        assert plain.execute(FIND).fetchall() == [("alpha",)]
        plain.execute("create temp table mine as select 'alpha' as word")
        joined = "select s.symbol from mine, search_text('alpha') as s where s.symbol = mine.word"
        assert plain.execute(joined).fetchall() == [("alpha",)]


def test_pandas_and_polars_take_results_as_they_are(path: Path) -> None:
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.sql(FIND).df()["symbol"].tolist() == ["alpha"]
        assert plain.sql(FIND).pl()["symbol"].to_list() == ["alpha"]
        vectors = plain.sql("select embedding from embeddings").pl()["embedding"]
        assert vectors.to_list() == [[1.0, 0.0, 0.0]]


def test_vectors_are_arrays_and_a_query_vector_may_be_a_list_or_a_numpy_array(path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("select typeof(embedding) from embeddings").fetchall() == [("FLOAT[3]",)]
        for vector in ([1.0, 0.0, 0.0], numpy.array([1, 0, 0], numpy.float32)):
            rows = plain.execute("select symbol, score from search_vector($v)", {"v": vector}).fetchall()
            assert rows == [("alpha", 1.0)]
        with pytest.raises(duckdb.ConversionException, match="length 2"):
            plain.execute("select symbol from search_vector([1.0, 0.0])").fetchall()
