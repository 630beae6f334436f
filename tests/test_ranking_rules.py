"""What the ranking rules of a hybrid search add and take, by hand, on a handful of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece

from repolake.load import load
from repolake.progress import SilentProgress
from repolake.records import SearchHit
from repolake.search import Index, open_index
from repolake.settings import Settings

FIRST_PLACE = 1 / 61


@contextmanager
def built(data_dir: Path, *files: File) -> Iterator[Index]:
    builder = LakeBuilder(data_dir)
    builder.add("r", list(files))
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(data_dir, embed_query=lambda _: [1.0, 0.0, 0.0]) as opened:
        yield opened


def near(cosine: float) -> tuple[float, float, float]:
    return (cosine, (1 - cosine * cosine) ** 0.5, 0.0)


def by_symbol(index: Index, query: str) -> dict[str, SearchHit]:
    return {hit.symbol: hit for hit in index.search(query)}


def test_each_further_chunk_of_a_file_counts_an_eighth_less(tmp_path: Path):
    many = [Piece(f"x = {n}", f"f{n}", "function", vector=near(1 - n / 5)) for n in range(3)]
    lone = [Piece("y", "g", "function", vector=near(0.7))]
    with built(tmp_path, File("many.py", many), File("lone.py", lone)) as index:
        hits = by_symbol(index, "unheard")
    # Places by meaning: f0, f1, g, f2.
    assert hits["f0"].score == pytest.approx(1 / 61 + FIRST_PLACE * 1.0, abs=1e-7)
    assert hits["f1"].score == pytest.approx((1 / 62 + FIRST_PLACE * 0.8) * 0.87, abs=1e-7)
    assert hits["g"].score == pytest.approx(1 / 63 + FIRST_PLACE * 0.7, abs=1e-7)
    assert hits["f2"].score == pytest.approx((1 / 64 + FIRST_PLACE * 0.6) * 0.87**2, abs=1e-7)


def test_a_further_piece_of_a_definition_counts_half_besides(tmp_path: Path):
    pieces = [
        Piece("one", "long", "function", vector=near(1.0)),
        Piece("two", "long", "function", "def long():", is_continuation=True, vector=near(0.9)),
        Piece("other", "short", "function", vector=near(0.5)),
    ]
    with built(tmp_path, File("a.py", pieces)) as index:
        hits = index.search("unheard")
    assert [hit.text for hit in hits] == ["one", "other", "two"]
    assert hits[2].score == pytest.approx((1 / 62 + 0.9 * FIRST_PLACE) * 0.87 * 0.5, abs=1e-7)
    assert hits[1].score == pytest.approx((1 / 63 + 0.5 * FIRST_PLACE) * 0.87**2, abs=1e-7)


def test_words_of_the_class_around_count_once_more(tmp_path: Path):
    body = "return here"
    files = [
        File("a.py", [Piece(body, "Zebra.run", "method", vector=near(0.5))]),
        File("b.py", [Piece(body, "Horse.run", "method", vector=near(1.0))]),
        File("c.py", [Piece(body, "ZebraHouse.run", "method", vector=near(0.0))]),
        File("d.py", [Piece(body, "Zebra", "class", vector=near(0.2))]),
    ]
    with built(tmp_path, *files) as index:
        hits = by_symbol(index, "zebras")
    best_words = max(hit.text_score or 0 for hit in hits.values())

    def rest(hit: SearchHit) -> float:
        words = 0.0
        if hit.text_rank is not None and hit.text_score is not None:
            words = 1 / (60 + hit.text_rank) + 1.5 * FIRST_PLACE * hit.text_score / best_words
        assert hit.vector_rank is not None
        assert hit.vector_score is not None
        return words + 1 / (60 + hit.vector_rank) + FIRST_PLACE * hit.vector_score

    # One word of one, of `zebra house zebrahouse`, none, and a class that nothing stands around.
    for symbol, share in (("Zebra.run", 1 / 2), ("ZebraHouse.run", 1 / 4), ("Horse.run", 0), ("Zebra", 0)):
        hit = hits[symbol]
        expected = rest(hit) + FIRST_PLACE * 0.7 * share
        assert hit.score == pytest.approx(expected, abs=1e-6), symbol


@pytest.mark.parametrize(
    ("query", "weight"),
    [
        ("how zebras sleep", 1.0),
        ("how zebras sleep in python", 0.25),
        ("how zebras sleep in JavaScript", 0.25),
        # A name: its words are those of the code. 17 of 121 letters, with its last part.
        (f"why in python would zebras.sleep {'last so much longer ' * 4}at night", 1.0),
    ],
)
def test_words_count_a_quarter_in_a_question_that_says_its_language(
    tmp_path: Path, query: str, weight: float
):
    words = [Piece("zebra sleep python", "f", "function", vector=near(0.2))]
    meaning = [Piece("horse", "g", "function", vector=near(0.9))]
    with built(tmp_path, File("a.py", words), File("b.py", meaning)) as index:
        hits = by_symbol(index, query)
    assert hits["f"].text_rank == 1
    assert hits["f"].score == pytest.approx(
        weight * (1 / 61 + 1.5 * FIRST_PLACE) + 1 / 62 + FIRST_PLACE * 0.2 / 0.9, abs=1e-6
    )
    assert hits["g"].score == pytest.approx(1 / 61 + FIRST_PLACE, abs=1e-6)


@pytest.mark.parametrize(
    ("query", "strong_words", "meaning"),
    [
        ("why the zebra sleeps", 1.5, 1.0),
        ("why zebra_sleep fails", 2.5, 0.5),  # 11 of 21 letters
        ("zebra_sleep", 1.5, 1.0),  # a name alone is looked for by its definition
        (f"why the zebra of Horse.run {'never goes to sleep ' * 4}", 1.5, 1.0),  # 12 of 107 letters
        ("the zebra.run in python", 2.5, 0.5),  # a name in it: no question of what code does
    ],
)
def test_in_a_query_that_names_code_words_tell_more_than_meaning(
    tmp_path: Path, query: str, strong_words: float, meaning: float
):
    best = [Piece("zebra zebra zebra", "f", "function", vector=near(0.2))]
    second = [Piece("zebra and much more text about other matters", "g", "function", vector=near(0.9))]
    with built(tmp_path, File("a.py", best), File("b.py", second)) as index:
        hits = by_symbol(index, query)
    f, g = hits["f"], hits["g"]
    assert (f.text_rank, g.text_rank, f.vector_rank, g.vector_rank) == (1, 2, 2, 1)
    assert f.text_score is not None
    assert g.text_score is not None
    assert f.score == pytest.approx(
        1 / 61 + strong_words * FIRST_PLACE + meaning * (1 / 62 + FIRST_PLACE * 0.2 / 0.9), abs=1e-6
    )
    assert g.score == pytest.approx(
        1 / 62 + strong_words * FIRST_PLACE * g.text_score / f.text_score + meaning * (1 / 61 + FIRST_PLACE),
        abs=1e-6,
    )


def test_the_cosine_of_what_words_found_counts_beyond_the_first_hundred(tmp_path: Path):
    nearer = [Piece(f"x = {n}", f"f{n}", "function", vector=near(0.9 - n / 1000)) for n in range(120)]
    found = [Piece("zebra", "g", "function", vector=near(0.45))]
    with built(tmp_path, File("many.py", nearer), File("a.py", found)) as index:
        hit = by_symbol(index, "zebra crossing")["g"]
        by_meaning = index.search("zebra crossing", k=121, mode="vector")
    assert (hit.text_rank, hit.vector_rank) == (1, None)
    assert hit.vector_score == pytest.approx(0.45, abs=1e-6)
    assert hit.score == pytest.approx(1 / 61 + 1.5 * FIRST_PLACE + FIRST_PLACE * 0.45 / 0.9, abs=1e-6)
    assert [by_meaning[-1].symbol, by_meaning[-1].vector_rank] == ["g", 121]
