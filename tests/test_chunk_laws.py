# ruff: noqa: E501
import json
import sysconfig
from pathlib import Path

import pytest
from chunk_samples import LAWS, broken_laws
from hypothesis import given
from hypothesis import strategies as st

from repolake.grammars import GRAMMARS
from repolake.languages import language_of

LANGUAGES = sorted({*GRAMMARS, "markdown", "rst", "text"})
LINES = st.sampled_from(
    """def f(x):|    return x|class A(B):|    def m(self):|        pass|@dec|# comment|x = (|)|]|}|{|"\"\"|
function f() {|export class K {|  m() { return 1; }|const g = (a) => a;|/* c */|// c|public class A {|
func (r *R) M() {|impl T for S {|fn f() -> u8 {|#ifdef X|#endif|struct s { int a; };|template <class T>|
namespace n {|module M|end|defmodule A do|<?php|foo() {|create table t (a int);|# Title|## Sub|=====|-----|```|
<div>|</div>|a: b|  - c|[t]|k = 1|<<<<<<< HEAD|=======|>>>>>>> x||\t|    |世界 = 'é'|\r|\x0c|\x00""".split(
        "|"
    )
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=40).map("\n".join),
    st.lists(LINES, max_size=12).map(" ".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
)


@LAWS
@given(TEXTS, st.sampled_from(LANGUAGES), st.sampled_from([96, 160, 512]))
def test_chunks_of_any_text_obey_the_laws(text: str, language: str, budget: int) -> None:
    assert broken_laws(text, language, budget) == {}


@pytest.mark.parametrize("package", ["json", "asyncio", "email"])
def test_chunks_of_the_standard_library_obey_the_laws(package: str) -> None:
    folder = Path(sysconfig.get_path("stdlib")) / package
    for path in sorted(folder.glob("*.py")):
        assert broken_laws(path.read_text(encoding="utf-8"), "python", 256) == {}, path.name


def test_every_grammar_is_a_language_that_file_names_lead_to() -> None:
    endings = {"python": "py", "starlark": "bazel", "csharp": "cs", "kotlin": "kt", "ruby": "rb"}
    endings |= {"rust": "rs", "javascript": "js", "typescript": "ts", "haskell": "hs", "elixir": "ex"}
    endings |= {"bash": "sh"}
    for language in GRAMMARS:
        assert language_of(f"a.{endings.get(language, language)}", b"") == language, json.dumps(language)
