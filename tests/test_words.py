"""Which words BM25 sees in a text, and which symbols a query names, by the macros of a published file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece

from repolake.load import load
from repolake.progress import SilentProgress
from repolake.search import Index, open_index
from repolake.settings import Settings


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    data_dir = tmp_path_factory.mktemp("words")
    builder = LakeBuilder(data_dir)
    builder.add("a", [File("a.py", [Piece("alpha", "first", "function")])])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(data_dir) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserById(self)", "by get getuserbyid id self user"),
        ("HTTPServerError", "error http httpservererror server"),
        ("raw_decode", "decod raw raw_decode"),
        ("utf8 k8s", "8 8 k8s utf utf8"),
        ("fetchURLs", "fetch fetchurl url"),
        ("don\u2019t \u2014 stop\u2026", "don stop t"),
        ("\u043f\u0430\u0424\u044b", "\u043f\u0430 \u0444\u044b \u043f\u0430\u0444\u044b"),
        ("\u0633\u0644\u0627\u0645\u061f", "\u0633\u0644\u0627\u0645"),
        ("\u4e16\u754c\u4e2d", "\u4e16 \u4e16\u754c \u4e2d \u754c \u754c\u4e2d"),
        ("\uff41\uff42\uff43 \u2764 \u2192 x\u00d7y", "abc x y"),
        ("na\u00efve \u00dcberFall", "fall naiv uber uberfall"),
    ],
)
def test_a_text_gives_its_identifiers_and_their_parts(index: Index, text: str, words: str) -> None:
    found = index.sql("select main.split_words($1) as words", [text]).to_pylist()[0]["words"]
    assert sorted(found.split()) == sorted(words.split())


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("raise_for_status", ["raise_for_status"]),
        ("decode", ["decode"]),
        ("where is JSONDecoder.raw_decode used", ["JSONDecoder.raw_decode", "raw_decode"]),
        ("std::vector and Foo#bar", ["Foo.bar", "bar", "std.vector", "vector"]),
        ("how does it decode", []),
        ("why did POST become getUrl", ["POST", "getUrl"]),
        ("about \u201cfoo_bar\u201d \u2192 $scope.apply", ["$scope.apply", "apply", "foo_bar"]),
        ("is pi 3.14", []),
    ],
)
def test_a_query_names_what_looks_like_code(index: Index, query: str, names: list[str]) -> None:
    found = index.sql("select name from main.named_symbols($1)", [query]).to_pylist()
    assert sorted(row["name"] for row in found) == names


def test_the_title_of_a_block_of_tests_weighs_less_than_a_name(tmp_path: Path) -> None:
    builder = LakeBuilder(tmp_path)
    kinds = {"test": "a.ts", "suite": "b.ts", "function": "c.ts"}
    files = [File(path, [Piece("alpha", "parse date", kind)]) for kind, path in kinds.items()]
    builder.add("a", files)
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(tmp_path) as index:
        hits = index.search("parse date", mode="text")
    assert hits[0].symbol_kind == "function"
    assert hits[0].score > hits[1].score == hits[2].score
