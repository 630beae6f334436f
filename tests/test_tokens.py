import re
from itertools import pairwise
from pathlib import Path

import pytest
from chunk_samples import LAWS, TOKENIZER_FILE, counter, tokenizer
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from repolake.tokens import TextTokens, TokenCounter

TEXTS = st.text(
    st.one_of(
        st.sampled_from("abcXYZ019_.,()[]{}<>'\"#\\ \t\n\r\f\v\x00\x1f\x7f"),
        st.sampled_from("éüß…世界語🙂\u0301\u200d\ufeff\u2028İﬁ"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=200,
)


def real_count(text: str) -> int:
    return len(tokenizer().encode(text, add_special_tokens=False))


@LAWS
@given(TEXTS)
def test_the_count_of_any_text_is_the_tokenizers_own(text: str) -> None:
    assert counter().count(text) == real_count(text)


@pytest.mark.parametrize("text", ["[SEP] x [MASK]", "a[PAD]b", "x" * 101, "x" * 100, "ab\x0ccd", "don't"])
def test_unusual_words_are_counted_as_the_tokenizer_counts_them(text: str) -> None:
    assert counter().count(text) == real_count(text)


@LAWS
@given(TEXTS)
def test_counts_of_line_spans_add_up_to_the_whole(text: str) -> None:
    tokens = TextTokens(counter(), text, text.encode())
    for line, start in enumerate(tokens.line_starts):
        end = tokens.line_ends[line]
        assert tokens.count(start, end) == real_count(text.split("\n")[line])
        assert tokens.count(0, end) == real_count("\n".join(text.split("\n")[: line + 1]))


@LAWS
@given(TEXTS)
def test_a_cut_at_any_word_start_changes_no_count(text: str) -> None:
    data = text.encode()
    tokens = TextTokens(counter(), text, data)
    for line in range(len(tokens.line_starts)):
        for place in tokens.words_in(line)[0]:
            before, after = data[:place].decode(), data[place:].decode()
            assert tokens.is_word_start(place)
            assert tokens.count(0, place) == real_count(before)
            assert tokens.count(place, len(data)) == real_count(after)


def test_words_of_every_length_are_counted_as_the_tokenizer_counts_them() -> None:
    stems = ["a" * size for size in range(1, 41)] + [
        "Tokenizers2Hash9Words5Of1Every0Length"[:size] for size in range(1, 36)
    ]
    words = [word + end for word in stems for end in ("", "x", "Y", "7")]
    lines = [*words, *(f"{first}.{second}" for first, second in pairwise(words)), "", words[-1]]
    text = "\n".join(lines)
    tokens = TextTokens(counter(), text, text.encode())
    found = [
        tokens.count(start, end) for start, end in zip(tokens.line_starts, tokens.line_ends, strict=True)
    ]
    assert found == [real_count(line) for line in lines]


def test_more_words_than_the_table_of_words_has_room_for_are_counted_exactly() -> None:
    words = [f"{number:x}n{number % 977}" for number in range(60_000, 210_000)]
    lines = [" ".join(words[start : start + 500]) for start in range(0, len(words), 500)]
    expected = [len(found) for found in tokenizer().encode_batch(lines, add_special_tokens=False)]
    text = "\n".join(lines)
    for _ in range(2):  # again, from what is left of them
        sums = counter().line_sums(text, text.encode())
        assert [after - before for before, after in pairwise(sums)] == expected


def test_one_enormous_word_can_be_cut_into_parts_that_are_counted_each() -> None:
    word = "QUJD" * 5_000
    tokens = TextTokens(counter(), word, word.encode())
    starts, sums = tokens.words_in(0)
    assert starts == [1_000 * part for part in range(20)]
    assert sums[-1] == sum(real_count(word[start : start + 1_000]) for start in starts)


def test_the_inside_of_a_word_is_no_place_for_a_cut() -> None:
    tokens = TextTokens(counter(), "  tokenization_of words", b"  tokenization_of words")
    places = [place for place in range(24) if tokens.is_word_start(place)]
    # Before or after white space, before and after the punctuation that splits words, and at both ends.
    assert places == [0, 1, 2, 14, 15, 18, 23]


def test_a_tokenizer_that_does_not_split_at_spaces_is_counted_as_a_whole(tmp_path: Path) -> None:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(
        ["def f(x):\n    return x\n\n"] * 5, trainers.BpeTrainer(vocab_size=300, show_progress=False)
    )
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    own = TokenCounter.load(path)
    text = "def f(x):\n    return x\n\n"
    assert not own.is_additive
    assert own.count(text) == len(made.encode(text))


def test_the_fingerprint_names_the_tokenizers_bytes(tmp_path: Path) -> None:
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(TOKENIZER_FILE.read_bytes() + b"\n")
    assert TokenCounter.load(TOKENIZER_FILE).fingerprint == counter().fingerprint
    assert TokenCounter.load(changed).fingerprint != counter().fingerprint
    assert re.fullmatch("[0-9a-f]{16}", counter().fingerprint)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="Model"):
        TokenCounter.load(path)
