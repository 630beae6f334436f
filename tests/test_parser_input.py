"""What the parser gets has every line and every byte in its place."""

from chunk_samples import LAWS
from hypothesis import given
from hypothesis import strategies as st

from repolake.grammar import Grammar
from repolake.grammars import CPP, GO, PYTHON, RUST, SQL
from repolake.parser_input import parser_input

WORDS = st.sampled_from(
    ["class", "struct", "LIB_API", "FAST(1)", "static", "void", "f(", "Cart", ":", "{", "é", "\n", ")"]
)
HEADS = st.sampled_from(["template <", "[[nodiscard]]", "namespace", ";"])
BLANKED = {"LIB_API", "FAST(1)", "[[nodiscard]]"}


@LAWS
@given(st.lists(WORDS | HEADS, max_size=30).map(" ".join))
def test_blanking_keeps_length_and_lines_and_changes_only_words_in_capitals(text: str) -> None:
    data = text.encode()
    found = parser_input(CPP, data)
    assert len(found) == len(data)
    assert found.count(b"\n") == data.count(b"\n")
    kept = [word for word in text.split() if word not in BLANKED]
    assert [word for word in found.decode().split() if word not in BLANKED] == kept


def test_other_languages_and_short_comments_are_parsed_as_they_are() -> None:
    go = b"type LIB_API Cart struct {}\n"
    assert parser_input(GO, go) is go
    python = b"def f():\n    pass\n" + b"# why\n" * 20
    assert parser_input(PYTHON, python) is python


def test_a_type_in_capitals_stays_where_no_other_word_can_be_the_type() -> None:
    assert parser_input(CPP, b"static BOOL FAST is_open(int a) {}") == b"static BOOL      is_open(int a) {}"
    assert parser_input(CPP, b"return MAX_SIZE * sizeof(int);") == b"return MAX_SIZE * sizeof(int);"
    assert parser_input(CPP, b"struct FILE_INFO *open(int a) {}") == b"struct FILE_INFO *open(int a) {}"


PARTS = st.sampled_from(
    ["cfg! {", "  pub fn f() {}", "}", "  a::b! {", "  }", "[dbo].[a]", "x[i]", "[ é ]", "#name"]
)


@LAWS
@given(st.lists(PARTS, max_size=20).map("\n".join), st.sampled_from([RUST, SQL]))
def test_what_the_parser_gets_has_the_length_and_the_lines_of_the_text(text: str, grammar: Grammar) -> None:
    data = text.encode()
    found = parser_input(grammar, data)
    assert [len(line) for line in found.split(b"\n")] == [len(line) for line in data.split(b"\n")]
