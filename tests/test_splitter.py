# ruff: noqa: E501
from pathlib import Path
from textwrap import dedent

import pytest
from chunk_samples import broken_laws, counter, cut, embedded_text, symbols
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from repolake.grammar import Grammar
from repolake.grammars import PYTHON
from repolake.splitter import __file__ as splitter_source
from repolake.splitter import split
from repolake.syntax import missing_package, parse
from repolake.tokens import TokenCounter

MANY_LINES = "\n".join(f"        value_{number} = compute({number}, mode='fast')" for number in range(120))


def texts(text: str, language: str = "python", budget: int = 256) -> list[str]:
    return [own for _, own in cut(dedent(text), language, budget)]


def test_a_definition_that_fits_is_one_chunk_with_its_decorators_and_the_comment_above() -> None:
    found = texts(
        '''\
        import os

        # Reads a thing.
        @cache(
            size=3,
        )
        # between
        @trace
        def read(path):
            """Doc."""
            return os.open(path)


        X = 1
        '''
    )
    assert found[0] == "import os"
    assert found[1].startswith("# Reads a thing.\n@cache(")
    assert found[1].endswith("return os.open(path)")
    assert found[2] == "X = 1"


def test_a_comment_apart_from_a_definition_does_not_belong_to_it() -> None:
    assert texts("# A licence.\n\n\ndef f():\n    pass\n") == ["# A licence.", "def f():\n    pass"]


def test_a_class_that_does_not_fit_gives_its_head_and_one_chunk_for_each_method() -> None:
    found = cut(
        f'class Big(Base):\n    """What it is."""\n\n    limit = 3\n\n    def one(self):\n{MANY_LINES[:600]}\n'
        f"\n    @property\n    def two(self):\n        return 2\n\n    rest = 4\n\n    def three(self):\n"
        f"{MANY_LINES[:3000]}\n"
    )
    head, one, two, rest = found[:4]
    assert head[1] == 'class Big(Base):\n    """What it is."""\n\n    limit = 3'
    assert (head[0].symbol, head[0].symbol_kind, head[0].is_continuation) == ("Big", "class", False)
    assert (one[0].symbol, one[0].symbol_kind) == ("Big.one", "method")
    assert two[1] == "    @property\n    def two(self):\n        return 2"
    assert rest[1] == "    rest = 4"
    assert (rest[0].symbol, rest[0].is_continuation) == ("Big", True)
    assert rest[0].signature == "class Big(Base):"
    assert {chunk.symbol for chunk, _ in found[4:]} == {"Big.three"}
    assert [chunk.is_continuation for chunk, _ in found[4:]] == [False] + [True] * (len(found) - 5)


def test_later_pieces_of_a_function_know_its_signature() -> None:
    found = cut(f"async def work(\n    first: int,\n    *rest: str,\n) -> None:\n{MANY_LINES}\n")
    assert len(found) > 5
    assert {chunk.signature for chunk, _ in found} == {"async def work( first: int, *rest: str, ) -> None:"}
    assert [chunk.is_continuation for chunk, _ in found] == [False] + [True] * (len(found) - 1)


def test_an_oversized_statement_is_cut_between_its_own_statements() -> None:
    block = "\n".join(f"        step_{number}(alpha, beta)" for number in range(60))
    found = cut(f"def run():\n    if ready:\n{block}\n    else:\n{block}\n    return 1\n")
    assert all(own.splitlines()[-1].rstrip().endswith((")", "else:", "1")) for _, own in found)
    assert broken_laws(f"def run():\n    if ready:\n{block}\n    else:\n{block}\n", "python", 256) == {}


def test_conditional_definitions_keep_their_condition_and_their_names() -> None:
    found = cut(
        "import sys\n\nif sys.version_info > (3,):\n    def text(x):\n        return str(x)\n"
        "else:\n    def text(x):\n        return x\n\ntry:\n    import fast\nexcept ImportError:\n"
        "    class Slow:\n        pass\n"
    )
    assert [(chunk.symbol, own.splitlines()[0]) for chunk, own in found] == [
        ("<module>", "import sys"),
        ("text", "if sys.version_info > (3,):"),
        ("text", "else:"),
        ("<module>", "try:"),
        ("Slow", "except ImportError:"),
    ]


def test_names_are_dotted_across_classes_and_functions() -> None:
    filler = "\n".join(f"            x{number} = [alpha, beta, gamma]" for number in range(60))
    text = (
        "def outer():\n    class Inner:\n        def method(self):\n"
        + filler
        + "\n            class Deep:\n                def last(self):\n                    return 1\n"
        + filler.replace("            x", "                    x", 0)
        + "\n            return Deep\n        def other(self):\n            return 2\n"
    )
    found = {chunk.symbol for chunk, _ in cut(text)}
    assert {"outer", "outer.Inner", "outer.Inner.method", "outer.Inner.other"} <= found
    assert "outer.Inner.method.Deep" in found


def test_overloads_properties_and_redefinitions_are_each_a_chunk() -> None:
    text = """\
        @overload
        def f(x: int) -> int: ...
        @overload
        def f(x: str) -> str: ...
        def f(x):
            return x
        def f(x):
            return 2
        """
    found = cut(dedent(text))
    assert [chunk.symbol for chunk, _ in found] == ["f"] * 4
    assert [(chunk.start_line, chunk.end_line) for chunk, _ in found] == [(1, 2), (3, 4), (5, 6), (7, 8)]


def test_a_named_lambda_is_a_function_and_a_tiny_definition_is_found_by_name() -> None:
    assert symbols("sq = lambda x: x * x\ndef f(): 0\nX=1\nclass E(Exception): pass\n") == [
        ("sq", "function"),
        ("f", "function"),
        ("<module>", "module"),
        ("E", "class"),
    ]


def test_small_closures_stay_with_their_function() -> None:
    closures = "\n".join(
        f"    def inner_{number}(value):\n        return value + {number}" for number in range(30)
    )
    found = {chunk.symbol for chunk, _ in cut(f"def outer():\n{closures}\n    return inner_0\n")}
    assert found == {"outer"}


@pytest.mark.parametrize(
    "text",
    [
        "X = (\n" + "".join(f"    {number},\n" for number in range(300)) + ")\n",
        "value = call(" + "alpha, " * 400 + ")\n",
        "x = '''\n" + "some words here\n" * 200 + "'''\n",
    ],
)
def test_a_bracket_is_never_a_chunk_of_its_own(text: str) -> None:
    found = [own for _, own in cut(text)]
    assert len(found) > 1
    assert all(any(letter.isalnum() for letter in own) for own in found)


def test_one_enormous_line_is_cut_at_words_and_nothing_is_lost() -> None:
    text = "DATA = [" + ", ".join(f"0x{number:x}" for number in range(9_000)) + "]\n"
    found = cut(text)
    assert broken_laws(text, "python", 256) == {}
    assert "".join(own for _, own in found).replace(" ", "") == text.strip().replace(" ", "")


def test_a_line_that_is_one_word_is_bounded_in_bytes_too() -> None:
    text = "blob = '" + "QUJD" * 40_000 + "'\n"
    assert max(len(own) for _, own in cut(text)) <= 256 * 16
    assert broken_laws(text, "python", 256) == {}


def test_a_signature_too_long_for_the_budget_is_shortened_visibly() -> None:
    parameters = ",\n".join(f"    parameter_{number}: int = {number}" for number in range(300))
    found = cut(f"def wide(\n{parameters},\n):\n    return parameter_1\n")
    assert {chunk.symbol for chunk, _ in found} == {"wide"}
    assert all((chunk.signature or "").startswith("def wide( parameter_0") for chunk, _ in found)
    assert all((chunk.signature or "").endswith("…") for chunk, _ in found)
    assert broken_laws(f"def wide(\n{parameters},\n):\n    return 1\n", "python", 256) == {}


def test_sound_functions_around_a_broken_one_keep_names_and_lines() -> None:
    good = "".join(f"def good_{number}():\n    return {number}\n\n" for number in range(30))
    text = good + "def broken(:\n    return (1\n\n" + good.replace("good", "after")
    found = {chunk.symbol: chunk.start_line for chunk, _ in cut(text)}
    assert found["good_29"] == 88
    assert (found["after_1"], found["after_29"]) == (97, 181)
    assert broken_laws(text, "python", 256) == {}


def test_both_sides_of_a_merge_conflict_are_kept() -> None:
    text = (
        "def before():\n    return 1\n\n<<<<<<< HEAD\ndef ours():\n    return 2\n=======\n"
        "def theirs():\n    return 3\n>>>>>>> branch\n\ndef after():\n    return 4\n"
    )
    found = {chunk.symbol: chunk.start_line for chunk, _ in cut(text)}
    assert (found["before"], found["after"]) == (1, 12)
    assert all(any(name in own for _, own in cut(text)) for name in ("def ours", "def theirs"))


def test_python_2_functions_are_found_by_name() -> None:
    text = (
        "def shout(x):\n    print 'hi', x\n    print >>f, x\n\ndef risky():\n    try:\n        exec code\n"
        "    except ValueError, e:\n        raise E, 'text'\n\ndef last(a, (b, c)):\n    return a <> 0777\n"
    )
    assert [symbol for symbol, _ in symbols(text) if symbol != "<module>"] == ["shout", "risky", "last"]


def test_soft_keywords_are_plain_names() -> None:
    text = (
        "match = 1\ntype = 3\ndef match(self, case):\n    match case:\n        case [x, *_] if x:\n"
        "            return x\n        case Point(x=0):\n            return 0\n"
    )
    assert symbols(text) == [("<module>", "module"), ("match", "function")]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(\n" * 3_000 + "1" + "\n)" * 3_000,
        "x = " + "[" * 4_000 + "]" * 4_000,
        "x = " + "f(" * 3_000 + ")" * 3_000,
        "".join("  " * depth + "if x:\n" for depth in range(90)) + "  " * 90 + "pass\n",
        "".join(" " * depth + "def f():\n" for depth in range(300)) + " " * 300 + "pass\n",
    ],
    ids=["parentheses", "lists", "calls", "ifs", "functions"],
)
def test_deep_nesting_is_cut_without_recursion(text: str) -> None:
    laws = broken_laws(text, "python", 256)
    assert laws == {}


def test_lines_are_counted_by_line_feeds_alone() -> None:
    text = "def a():\r\n    return 1\r\n\r\n\x0cdef b():\r\n    return 'x\ry'\r\n"
    found = cut(text)
    assert [(chunk.symbol, chunk.start_line, chunk.end_line) for chunk, _ in found] == [
        ("a", 1, 2),
        ("b", 4, 5),
    ]
    assert found[0][1] == "def a():\r\n    return 1"


def test_places_are_bytes_though_letters_are_wide() -> None:
    text = "".join(f"# — → 世界 {number}\ndef café_{number}():\n    return 'é'\n\n" for number in range(30))
    for number, (chunk, own) in enumerate(cut(text)):
        assert chunk.symbol == f"café_{number}"
        assert own == f"# — → 世界 {number}\ndef café_{number}():\n    return 'é'"


@pytest.mark.parametrize("text", ["", "\n", "   \n\t\n", "\r\n"])
def test_a_blank_file_has_no_chunks(text: str) -> None:
    assert cut(text) == []


def test_a_file_of_comments_is_one_chunk() -> None:
    assert texts("# only\n# comments") == ["# only\n# comments"]


def test_a_language_without_a_grammar_is_cut_at_blank_lines() -> None:
    paragraphs = "\n\n".join(f"paragraph {number} " + "word " * 60 + "\nend" for number in range(10))
    found = [own for _, own in cut(paragraphs, "text", 200)]
    assert all(own.startswith("paragraph") and own.endswith("end") for own in found)


def test_data_is_cut_along_its_structure() -> None:
    text = "{" + ", ".join(f'"key{number}": {{\n  "a": [1, 2, 3]\n}}' for number in range(40)) + "}\n"
    found = [own for _, own in cut(text, "json")]
    assert len(found) > 1
    assert all(own.rstrip(",}\n ").endswith("]") for own in found)


def test_a_file_that_is_mostly_errors_is_cut_by_lines() -> None:
    text = "def f(x):\n    return x\n" + "%$ ?? )( ]] !! word\n" * 60
    found = split(text, "python", 256, counter())
    assert found.has_syntax_error
    assert {chunk.symbol for chunk in found.chunks} == {"<module>"}


def test_a_grammar_that_is_not_installed_is_named_and_gives_no_tree() -> None:
    grammar = Grammar("tree_sitter_of_no_language")
    assert missing_package(grammar) == "tree-sitter-of-no-language"
    assert parse(grammar, b"x = 1") is None
    assert missing_package(PYTHON) is None


def test_the_budget_holds_for_a_tokenizer_that_does_not_add_up(tmp_path: Path) -> None:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    source = Path(splitter_source).read_text(encoding="utf-8")
    made.train_from_iterator([source], trainers.BpeTrainer(vocab_size=600, show_progress=False))
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    data = source.encode()
    for chunk in split(source, "python", 128, TokenCounter.load(path)).chunks:
        own = data[chunk.start_byte : chunk.end_byte].decode()
        embedded = embedded_text(chunk, own, "splitter.py")
        assert len(made.encode(embedded)) + 2 <= chunk.token_count <= 128


def test_a_long_run_of_comments_below_a_function_is_kept_line_by_line() -> None:
    text = "def before():\n    return 1\n" + "# why this is so\n" * 3000 + "def after():\n    return 2\n"
    assert not +broken_laws(text, "python", 256)
    assert {("before", "function"), ("after", "function")} <= set(symbols(text))
    assert sum(own.count("# why this is so") for _, own in cut(text)) == 3000
