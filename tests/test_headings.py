# ruff: noqa: E501
from chunk_samples import broken_laws, cut

from repolake.headings import find_headings


def found(language: str, text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in find_headings(language, text.encode())]


def test_markdown_headings_are_found_outside_code() -> None:
    text = (
        "# One #\n\ntext\n\n```sh\n# no heading\n```\n\nTwo\n---\n\n### Three  `x`\n#hashtag\n"
        "    # indented code\n\n- item\n---\n~~~\nNo\n==\n~~~\n\nFour\n====\n"
    )
    assert found("markdown", text) == [(1, "One"), (2, "Two"), (3, "Three `x`"), (1, "Four")]


def test_rst_levels_follow_the_order_of_their_adornments() -> None:
    text = "=====\nTitle\n=====\n\nPart\n====\n\nSub\n---\n\ntext\n\nPart 2\n======\n\n==== ====\na    b\n==== ====\n"
    assert found("rst", text) == [(1, "Title"), (2, "Part"), (3, "Sub"), (2, "Part 2")]


def test_sections_of_a_long_text_are_chunks_named_by_their_headings() -> None:
    words = "Some words that explain the thing at length. " * 12
    text = (
        f"intro\n\n# Guide\n\n{words}\n\n## Install\n\n{words}\n\n### Linux\n\n{words}\n\n## Use\n\nShort.\n"
    )
    chunks = cut(text, "markdown", 200)
    assert [(chunk.symbol, chunk.signature) for chunk, _ in chunks] == [
        ("<module>", None),
        ("Guide", "# Guide"),
        ("Guide.Install", "## Install"),
        ("Guide.Install.Linux", "### Linux"),
        ("Guide.Use", "## Use"),
    ]
    assert {chunk.symbol_kind for chunk, _ in chunks[1:]} == {"section"}
    assert broken_laws(text, "markdown", 200) == {}


def test_a_short_text_is_one_section() -> None:
    assert [own for _, own in cut("# A\n\ntext\n\n## B\n\nmore\n", "markdown")] == [
        "# A\n\ntext\n\n## B\n\nmore"
    ]


def test_thousands_of_nested_and_flat_headings_are_no_problem() -> None:
    deep = "".join(f"{'#' * (number % 6 + 1)} H{number}\n\ntext\n\n" for number in range(3_000))
    assert broken_laws(deep, "markdown", 128) == {}
