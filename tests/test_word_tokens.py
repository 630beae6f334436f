"""The cache of words gives exactly the token ids of the tokenizers library."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from repolake.word_tokens import WordTokens

REPOSITORY = Path(__file__).parents[1]
TOKENIZER = Tokenizer.from_file(str(REPOSITORY / "repolake" / "models" / "fast" / "tokenizer.json"))


def bert_tokenizer() -> Tokenizer:
    pieces = [
        "[UNK]",
        "read",
        "##er",
        "file",
        "http",
        "2",
        "##0",
        "_",
        "(",
        ")",
        "\u2026",
        "[",
        "]",
        "mask",
        "[MASK]",
    ]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106  # a token, no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@settings(deadline=None)
@given(text=st.text(alphabet=st.one_of(st.characters(max_codepoint=0x180), st.sampled_from("aZ09_\u2026 ("))))
def test_ids_of_any_text_are_those_of_the_tokenizer_or_left_to_it(text: str) -> None:
    words = WordTokens.of(TOKENIZER)
    assert words is not None
    ids = words.ids(text)
    if ids is not None:
        assert ids.tolist() == TOKENIZER.encode(text, add_special_tokens=False).ids


def test_ids_of_whole_source_files_are_those_of_the_tokenizer() -> None:
    words = WordTokens.of(TOKENIZER)
    assert words is not None
    files = sorted((REPOSITORY / "repolake").glob("*.py"))
    texts = [
        text for text in (path.read_text(encoding="utf-8") for path in files) if words.ids(text) is not None
    ]
    assert len(texts) > len(files) / 2
    for text in texts:
        ids = words.ids(text)
        assert ids is not None
        assert ids.tolist() == TOKENIZER.encode(text, add_special_tokens=False).ids


def test_words_are_cut_into_pieces_and_punctuation_stands_alone() -> None:
    words = WordTokens.of(bert_tokenizer())
    assert words is not None
    ids = words.ids("READER_file(http 20)\u2026 xyz")
    assert ids is not None
    # read ##er _ file ( http 2 ##0 ) … [UNK]
    assert ids.tolist() == [1, 2, 7, 3, 8, 4, 5, 6, 9, 10, 0]


@pytest.mark.parametrize("text", ["na\u00efve", "a\x00b", "form\x0cfeed", "\u65e5\u672c", "a\u00a0b"])
def test_text_that_bert_rewrites_is_left_to_the_tokenizer(text: str) -> None:
    words = WordTokens.of(TOKENIZER)
    assert words is not None
    assert words.ids(text) is None


def test_text_with_an_added_token_is_left_to_the_tokenizer() -> None:
    tokenizer = bert_tokenizer()
    tokenizer.add_special_tokens([AddedToken("[MASK]", normalized=False)])
    words = WordTokens.of(tokenizer)
    assert words is not None
    assert words.ids("read [MASK] file") is None
    ids = words.ids("read file")
    assert ids is not None
    assert ids.tolist() == [1, 3]


def test_other_tokenizers_get_no_cache() -> None:
    cased = bert_tokenizer()
    cased.normalizer = normalizers.BertNormalizer(lowercase=False)
    assert WordTokens.of(cased) is None
    assert WordTokens.of(Tokenizer(models.BPE())) is None
