# ruff: noqa: E501 (tables of sources read best as they are)
"""Signatures, comments and odd shapes of definitions, in the languages where they occur."""

import pytest
from chunk_samples import cut, symbols


@pytest.mark.parametrize(
    ("language", "text", "signature"),
    [
        ("python", "@dec\nasync def f(a: int,\n   b=1) -> str:  # why\n    pass\n", "async def f(a: int, b=1) -> str:"),
        ("python", "class A(B, metaclass=M):\n    x = 1\n", "class A(B, metaclass=M):"),
        ("typescript", "export const f = async <T,>(a: T): Promise<T> => { return a; };", "export const f = async <T,>(a: T): Promise<T> =>"),
        ("java", "@Foo(1) @Bar\npublic static <T> void m(int a) throws E { }", None),
        ("java", "@Foo(1)\npublic final class A<T> extends B { }", "public final class A<T> extends B"),
        ("go", "func (c *Cart) Add(x int) (int, error) {\n\treturn x, nil\n}\n", "func (c *Cart) Add(x int) (int, error)"),
        ("go", "type Cart struct {\n\ta int\n}\n", "type Cart struct"),
        ("rust", "#[inline]\npub fn f<T>(x: T) -> R<T> where T: Z { x }", "pub fn f<T>(x: T) -> R<T> where T: Z"),
        ("cpp", "template <class T>\nT max(T a, T b) { return a; }", "template <class T> T max(T a, T b)"),
        ("csharp", "[A] public class B { [C] public int M(int x) { return x; } }", "public class B"),
        ("c", "typedef struct {\n  int a;\n} line_t;\n", "typedef struct line_t"),
        ("ruby", "def add(a, b = 1)\n  a + b\nend\n", "def add(a, b = 1)"),
        ("elixir", "defmodule A.B do\n  use C\nend\n", "defmodule A.B do"),
    ],
)  # fmt: skip
def test_the_signature_is_the_head_without_decorations_and_body(
    language: str, text: str, signature: str | None
) -> None:
    found = {chunk.signature for chunk, _ in cut(text, language)}
    assert signature is None or signature in found


def test_comments_and_attributes_above_belong_to_the_definition() -> None:
    rust = "use a;\n\n/// Doc.\n#[derive(Debug)]\nstruct S;\n"
    assert [own for _, own in cut(rust, "rust")] == ["use a;", "/// Doc.\n#[derive(Debug)]\nstruct S;"]
    go = "package a\n\n// Doc one.\n// Doc two.\nfunc f() {}\n"
    assert [own for _, own in cut(go, "go")] == ["package a", "// Doc one.\n// Doc two.\nfunc f() {}"]
    java = "/**\n * Doc.\n */\n@A\nclass B { }  // end of B\n"
    assert [own for _, own in cut(java, "java")] == [java.rstrip()]


def test_clauses_of_one_function_stay_together() -> None:
    found = cut("f :: Int -> Int\nf 0 = 1\nf n = n * f (n - 1)\n\ng x = x\n", "haskell")
    assert [(chunk.symbol, chunk.signature) for chunk, _ in found] == [
        ("f", "f :: Int -> Int"),
        ("g", "g x = x"),
    ]


def test_functions_inside_a_wrapper_function_are_found() -> None:
    body = "".join(
        f"  function step{number}(a) {{\n    return call(a, {number});\n  }}\n" for number in range(30)
    )
    found = {
        chunk.symbol for chunk, _ in cut(f"(function () {{\n  'use strict';\n{body}}})();\n", "javascript")
    }
    assert {f"step{number}" for number in range(30)} <= found


def test_a_documentation_comment_that_is_too_long_still_carries_the_name() -> None:
    comment = "".join(f"/// Explains part {number} of the mutex at some length.\n" for number in range(40))
    found = cut(f"use a;\n\n{comment}pub struct Mutex {{ a: u8 }}\n", "rust")
    assert [(chunk.symbol, chunk.is_continuation) for chunk, _ in found][:2] == [
        ("<module>", False),
        ("Mutex", True),
    ]
    assert found[-1][1].endswith("length.\npub struct Mutex { a: u8 }")
    assert {chunk.signature for chunk, _ in found[1:]} == {"pub struct Mutex"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class LIB_API Cart final : public Base {\n public:\n  int total() { return 1; }\n};\n", [("Cart", "class")]),
        ("struct LIB_ALIGNED(8) Point { int x; };\n", [("Point", "struct")]),
        ("enum class LIB_API State { Open };\n", [("State", "enum")]),
        ("namespace shop LIB_API {\nint q() { return 1; }\n}\n", [("shop.q", "function")]),
        ("static FAST_CALL INLINE_HINT void FAST_ABI reverse(char* a, char* b)\n{\n  *a = *b;\n}\n", [("reverse", "function")]),
        ("LIB_EXPORT int LIB_CALL Java_shop_Cart(Env* env) { return 1; }\n", [("Java_shop_Cart", "function")]),
        ("BOOL WINAPI DllMain(HANDLE a) { return TRUE; }\n", [("DllMain", "function")]),
        ("TEST(CartTest, AddsUp) { EXPECT_EQ(1, 2); }\n", [("CartTest.AddsUp", "method")]),
        ("SYSCALL_DEFINE3(read, unsigned int, fd, char *, buf) { return 1; }\n", [("read", "function")]),
        ("Cart::operator bool() const { return true; }\n", [("Cart.operator bool", "method")]),
        ("struct Hash { size_t operator()(int a) const { return 1; } };\n", [("Hash", "struct")]),
        ("struct FILE_INFO info_of(int a) { return x; }\n", [("info_of", "function")]),
        ("URL::URL(Text text) { use(text); }\n", [("URL.URL", "method")]),
    ],
)  # fmt: skip
def test_macros_in_the_head_of_a_definition_hide_neither_it_nor_its_first_line(
    text: str, expected: list[tuple[str, str]]
) -> None:
    found = cut(text, "cpp")
    assert [(chunk.symbol, chunk.symbol_kind) for chunk, _ in found] == expected
    assert [own for _, own in found] == [text.rstrip()]


def test_parameters_declared_below_the_head_hide_no_function() -> None:
    text = (
        "int\nadd(a, b)\n    int a;\n    int b;\n{\n    return a + b;\n}\n\n"
        "static char *\nname_of(p, n)\nregister struct line *p; /* a line */\nint n;\n{\n    return p->name;\n}\n"
    )
    assert [(chunk.symbol, own.split("\n")[-2].strip()) for chunk, own in cut(text, "c")] == [
        ("add", "return a + b;"),
        ("name_of", "return p->name;"),
    ]


@pytest.mark.parametrize(
    "text",
    ["void ((*clear)(*clear)}()static { return 1; }\n", "API }; API (*void }(Cart static ; ){ return 1; }\n"],
)
def test_what_the_grammar_reads_as_a_name_in_broken_c_is_none_if_it_holds_brackets(text: str) -> None:
    assert {chunk.symbol for chunk, _ in cut(text, "c")} == {"<module>"}


def test_the_signature_keeps_the_macros_that_the_grammar_does_not_see() -> None:
    found = cut("int a;\n\nLIB_EXPORT int LIB_CALL open_cart(int id) { return 1; }\n", "c")
    assert [(chunk.symbol, chunk.signature) for chunk, _ in found] == [
        ("<module>", None),
        ("open_cart", "LIB_EXPORT int LIB_CALL open_cart(int id)"),
    ]


def test_a_function_given_to_a_call_has_the_name_that_the_result_gets() -> None:
    text = (
        "export const Button = memo(forwardRef((props, ref) => {\n  return props;\n}));\n"
        "const sorted = list.sort((a, b) => a - b);\n"
        "exports.handler = wrap(async function (event) {\n  return event;\n});\n"
        "const store = make({\n  name: 'x',\n  add(state) { return 1; },\n});\n"
        "function outer() {\n  const rows = list.map((x) => {\n    return x;\n  });\n}\n"
    )
    for language in ("javascript", "typescript"):
        assert symbols(text, language) == [
            ("Button", "function"),
            ("<module>", "module"),
            ("exports.handler", "function"),
            ("store", "object"),
            ("outer", "function"),
        ]


def test_a_symbol_too_long_for_its_header_loses_its_first_names_and_keeps_its_last() -> None:
    words = "_".join(f"word{number}" for number in range(16))
    text = f"class Outer_{words}:\n    def run(self):\n        pass\n" + "".join(
        f"    # filler words number {number} that fill the budget\n" for number in range(30)
    )
    assert "….run" in {chunk.symbol for chunk, _ in cut(text, "python", 160)}


@pytest.mark.parametrize(
    ("language", "head", "mark"),
    [
        ("java", "class Cart {\n", "/** Opens it. */\n    void open() {"),
        ("rust", "impl Cart {\n", "/// Opens it.\n    fn open() {"),
        ("kotlin", "class Cart {\n", "/** Opens it. */\n    fun open() {"),
        ("swift", "extension Cart {\n", "/// Opens it.\n    func open() {"),
        ("csharp", "class Cart\n{\n", "/// Opens it.\n    void Open() {"),
        ("typescript", "class Cart {\n", "/** Opens it. */\n    open(): void {"),
        ("php", "<?php\nclass Cart {\n", "/** Opens it. */\n    function open() {"),
        ("scala", "class Cart {\n", "/** Opens it. */\n    def open() = {"),
    ],
)
def test_a_comment_above_the_first_member_is_the_members(language: str, head: str, mark: str) -> None:
    filler = "".join(f"        call({number});\n" for number in range(15))
    members = f"    {mark}\n{filler}    }}\n\n    {mark.replace('pen', 'pen2')}\n{filler}    }}\n"
    chunks = cut(f"{head}{members}}}\n", language, 160)
    found = [(chunk.symbol.lower(), own) for chunk, own in chunks if chunk.symbol != "<module>"]
    assert [symbol for symbol, _ in found] == ["cart", "cart.open", "cart.open2"]
    assert found[0][1] == head.removeprefix("<?php\n").rstrip()
    assert found[1][1].lstrip().startswith(mark[:8])


def test_sound_definitions_inside_one_error_of_a_whole_file_are_found() -> None:
    # `open` as the name of a variable: a keyword to this grammar
    broken = "fun late() {\n  val open: Boolean\n  open = true\n}\n"
    functions = "".join(
        f"fun step{number}(a: Int): Int {{\n  return a + {number}\n}}\n\n" for number in range(20)
    )
    found = {chunk.symbol for chunk, _ in cut(f"class Cart {{\n{functions}{broken}}}\n", "kotlin", 96)}
    assert {f"step{number}" for number in range(20)} <= {symbol.rpartition(".")[2] for symbol in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class LIB_API [[nodiscard]] Cart : Base {\n  int a;\n};\n", [("Cart", "class")]),
        ("LIB_EXPORT template <typename T>\nclass Cart { int a; };\n", [("Cart", "class")]),
        ("void Cart::open() LOCKS_REQUIRED(mutex_) { use(); }\n", [("Cart.open", "method")]),
        ("bool Cart::open() const\n    LOCKS_EXCLUDED_(mutex_) {\n  return true;\n}\n", [("Cart.open", "method")]),
        ("void Outer::\n    open() { use(); }\n", [("Outer.open", "method")]),
    ],
)  # fmt: skip
def test_macros_around_the_head_of_a_definition_hide_it_neither(
    text: str, expected: list[tuple[str, str]]
) -> None:
    found = cut(text, "cpp")
    assert [(chunk.symbol, chunk.symbol_kind) for chunk, _ in found] == expected
    assert [own for _, own in found] == [text.rstrip()]


def test_a_macro_on_a_line_of_its_own_hides_no_namespace_and_no_class() -> None:
    text = (
        "#include <a>\nLIB_BEGIN_NAMESPACE\nnamespace detail {\nclass Cart { int a; };\n}\nLIB_END_NAMESPACE\n"
        "LIB_DIAGNOSTIC_PUSH(4)\nstruct Line { int b; };\n"
    )
    assert [pair for pair in symbols(text, "cpp") if pair[0] != "<module>"] == [
        ("detail.Cart", "class"),
        ("Line", "struct"),
    ]
    defined = "#define LIB_CHECK(a) \\\n  LIB_INTERNAL(a)\n#define LIB_TEST(a) \\\n  LIB_INTERNAL_TEST(a)\n"
    assert symbols(defined, "cpp") == [("LIB_CHECK", "macro"), ("LIB_TEST", "macro")]
    assert symbols("enum State {\n  OPEN,\n  CLOSED\n};\n\nSTATIC\nvoid save() { use(); }\n", "c") == [
        ("State", "enum"),
        ("save", "function"),
    ]


@pytest.mark.parametrize(
    ("language", "text", "symbol"),
    [
        ("javascript", "class Cart {\n  ['Page.close']() { return 1; }\n  x = 1;\n}\n", "Cart.Page.close"),
        (
            "javascript",
            "class Cart {\n  *[Symbol.iterator]() { yield 1; }\n  x = 1;\n}\n",
            "Cart.Symbol.iterator",
        ),
        (
            "kotlin",
            "class Cart {\n    fun `adds a line`() { call() }\n    val x = 1\n}\n",
            "Cart.adds a line",
        ),
        ("sql", 'create table "shop"."carts" (id int, note text);\nselect x = 1;\n', "shop.carts"),
        ("sql", "create table `shop`.`carts` (id int, note text);\nselect x = 1;\n", "shop.carts"),
        ("haskell", "total' :: Int -> Int\ntotal' n = n\n", "total'"),
        ("rust", "impl<'a> Show for &'a mut Cart<'a> {\n    fn show() {}\n}\n", "Cart"),
        ("lua", "cart['close it'] = function()\n  return 1\nend\nx = 1\n", "cart.close it"),
        ("javascript", 'cart["a"]["close"] = () => {\n  done();\n};\nx = 1;\n', "cart.a.close"),
        ("javascript", "cart[key] = () => {\n  done();\n};\nx = 1;\n", "cart[key]"),
        ("ruby", "class Cart\n  def [](key)\n    key\n  end\n  x = 1\nend\n", "Cart.[]"),
    ],
)
def test_quotes_brackets_and_references_are_no_part_of_a_name(language: str, text: str, symbol: str) -> None:
    filler = text.replace("x = 1", "x = [" + "1, " * 60 + "1]")
    assert symbol in {chunk.symbol for chunk, _ in cut(filler, language, 96)}


def test_a_comment_between_the_imports_of_haskell_and_a_definition_is_the_definitions() -> None:
    found = cut(
        "module Shop where\n\nimport Data.List\n\n-- | A cart\n-- of lines.\ndata Cart = Cart Int\n",
        "haskell",
    )
    assert [(chunk.symbol, own) for chunk, own in found] == [
        ("<module>", "module Shop where\n\nimport Data.List"),
        ("Cart", "-- | A cart\n-- of lines.\ndata Cart = Cart Int"),
    ]


def test_items_inside_a_macro_of_rust_are_found() -> None:
    text = (
        "cfg_shop! {\n    /// Opens.\n    pub fn open() {}\n\n    cfg_more! {\n        pub struct Line;\n    }\n}\n\n"
        "pin_project! {\n    pub struct Cart<T> {\n        #[pin]\n        inner: T,\n    }\n}\n"
    )
    assert [symbol for symbol, _ in symbols(text, "rust") if symbol != "<module>"] == ["open", "Line", "Cart"]
    quoted = "fn make() -> Tokens {\n    quote! {\n        impl #name {\n            fn open() {}\n        }\n    }\n}\n"
    assert symbols(quoted, "rust") == [("make", "function")]


def test_names_in_brackets_of_tsql_are_names() -> None:
    text = (
        "create table [dbo].[carts] ([id] int, [note] text);\nGO\n"
        "CREATE PROCEDURE [dbo].[open_cart]\n    @id int\nAS\nBEGIN\n    select 1\nEND\n"
    )
    found = [(chunk.symbol, own) for chunk, own in cut(text, "sql") if chunk.symbol != "<module>"]
    assert [symbol for symbol, _ in found] == ["dbo.carts", "dbo.open_cart"]
    assert found[0][1] == "create table [dbo].[carts] ([id] int, [note] text);"


def test_functions_in_tables_of_lua_are_found() -> None:
    filler = "".join(f"    call({number})\n" for number in range(20))
    text = f"local M = {{ open = function(x)\n{filler}  end, size = 1 }}\nreturn {{\n  close = function(x)\n{filler}  end,\n}}\n"
    found = [symbol for symbol, _ in symbols(text, "lua", 96) if symbol != "<module>"]
    assert {"M.open", "close"} <= set(found)
    assert symbols("local names = { a = 1, b = 2 }\n", "lua") == [("<module>", "module")]
