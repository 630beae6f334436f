# ruff: noqa: E501, ISC004 (tables of sources read best as they are)
"""Symbols and kinds in every language, on small sources of our own; a small budget opens the classes."""

from textwrap import dedent

import pytest
from chunk_samples import cut

FILLER = {
    "#": "\n".join(f"# filler words number {number} that fill the budget" for number in range(12)),
    "//": "\n".join(f"// filler words number {number} that fill the budget" for number in range(12)),
    "--": "\n".join(f"-- filler words number {number} that fill the budget" for number in range(12)),
}

SOURCES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "javascript": (
        """\
        export default class Cart extends Base {
          #total = 0;
        //FILL
          constructor(id) { super(id); }
          get total() { return this.#total; }
          static parse = (text) => JSON.parse(text);
          async *pages() { yield 1; }
        }
        export const load = async (url) => { return fetch(url); };
        function* ids() { yield 1; }
        module.exports = function build(a) { return a; };
        Cart.prototype.clear = function () { return 0; };
        const api = { get(path) { return path; }, post: (body) => body };
        export default () => 1;
        """,
        [
            ("Cart", "class"), ("Cart.constructor", "method"), ("Cart.total", "method"),
            ("Cart.parse", "method"), ("Cart.pages", "method"), ("load", "function"), ("ids", "function"),
            ("module.exports", "function"), ("Cart.prototype.clear", "function"), ("api", "object"),
            ("default", "function"),
        ],
    ),
    "typescript": (
        """\
        export interface Shape<T> { area(): number; name: T }
        type Id = string | number;
        enum Color { Red, Green }
        declare function free(a: number): string;
        export function over(a: string): void;
        export function over(a: any): void { log(a); }
        namespace Geo.Flat { export class Point { x = 1; } }
        export abstract class Store<T> implements Shape<T> {
        //FILL
          @Input() private size?: number;
          constructor(private readonly db: Db) {}
          abstract find(id: Id): T;
          save = (item: T) => this.db.put(item);
        }
        """,
        [
            ("Shape", "interface"), ("Id", "type"), ("Color", "enum"), ("free", "function"),
            ("over", "function"), ("over", "function"), ("Geo.Flat.Point", "class"), ("Store", "class"),
            ("Store.constructor", "method"), ("Store.find", "method"), ("Store.save", "method"),
        ],
    ),
    "tsx": (
        """\
        export const Button: FC<Props> = ({ label }) => { return <button>{label}</button>; };
        export function App() { return <Button label="x" />; }
        """,
        [("Button", "function"), ("App", "function")],
    ),
    "java": (
        """\
        package shop;
        /** A cart. */
        @Entity
        public class Cart<T> extends Base implements Serializable {
        //FILL
            private int total = 1;
            public Cart(int total) { this.total = total; }
            @Override
            public <R> R accept(Visitor<R> visitor) throws IOException { return visitor.visit(this); }
            interface Visitor<R> { R visit(Cart cart); }
            enum State { OPEN, PAID }
            record Line(int count) { }
        }
        @interface Marker { int value() default 1; }
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.Cart", "method"), ("Cart.accept", "method"),
            ("Cart.Visitor", "interface"), ("Cart.State", "enum"), ("Cart.Line", "record"),
            ("Marker", "interface"),
        ],
    ),
    "go": (
        """\
        package shop

        // Cart holds lines.
        type Cart struct { lines []Line }
        type Visitor interface { Visit(c *Cart) }
        type (
            Id int
            Name = string
        )
        func (c *Cart) Total() (int, error) { return 1, nil }
        func (s Stack[T]) Push(x T) { s.put(x) }
        func New[T any](x T) *Cart { return nil }
        """,
        [
            ("<module>", "module"), ("Cart", "struct"), ("Visitor", "interface"), ("Id", "type"),
            ("Name", "type"), ("Cart.Total", "method"), ("Stack.Push", "method"), ("New", "function"),
        ],
    ),
    "rust": (
        """\
        use std::fmt;
        /// A cart.
        #[derive(Debug)]
        pub struct Cart<T> { lines: Vec<T> }
        impl<T: Clone> fmt::Display for Cart<T> where T: Copy {
        //FILL
            const SIZE: u8 = 1;
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) }
        }
        pub trait Visit { fn visit(&self); }
        enum State { Open, Paid(u8) }
        macro_rules! cart { () => {} }
        mod tests { use super::*; #[test] fn sums() { assert!(true); } }
        pub(crate) async fn load<T>(x: T) -> T where T: Clone { x }
        """,
        [
            ("<module>", "module"), ("Cart", "struct"), ("Cart", "impl"), ("Cart.fmt", "method"),
            ("Visit", "trait"), ("State", "enum"), ("cart", "macro"), ("tests.sums", "function"),
            ("load", "function"),
        ],
    ),
    "c": (
        """\
        #include <stdio.h>
        #define SQUARE(x) ((x) * (x))
        /* A cart. */
        struct cart { int total; };
        typedef struct { int count; } line_t;
        enum state { OPEN, PAID };
        static inline char *name_of(int id, char **out) { return 0; }
        #ifdef FAST
        int total(void) { return 1; }
        #else
        int total(void) { return 2; }
        #endif
        int (*handler(int id))(int) { return 0; }
        """,
        [
            ("<module>", "module"), ("SQUARE", "macro"), ("cart", "struct"), ("line_t", "struct"),
            ("state", "enum"), ("name_of", "function"), ("total", "function"), ("total", "function"),
            ("handler", "function"),
        ],
    ),
    "cpp": (
        """\
        namespace shop::core {
        /// A cart.
        template <typename T>
        class Cart : public Base {
        //FILL
        public:
          Cart(int total) : total_(total) {}
          ~Cart() = default;
          bool operator==(const Cart& other) const { return true; }
          enum class State { Open, Paid };
        private:
          int total_;
        };
        template <typename T> int Cart<T>::total(int x) { return x; }
        }
        namespace { int hidden() { return 1; } }
        void shop::Line::clear(int a) { a = 1; }
        extern "C" { int c_total(void) { return 0; } }
        auto twice = [](int x) { return x * 2; };
        """,
        [
            ("shop.core.Cart", "class"), ("shop.core.Cart.Cart", "method"), ("shop.core.Cart.~Cart", "method"),
            ("shop.core.Cart.operator==", "method"), ("shop.core.Cart.State", "enum"),
            ("shop.core.Cart.total", "method"), ("hidden", "function"),
            ("shop.Line.clear", "method"), ("c_total", "function"), ("twice", "function"),
        ],
    ),
    "csharp": (
        """\
        using System;
        namespace Shop.Core {
        [Serializable]
        public partial class Cart<T> : Base, IVisit where T : new() {
        //FILL
          public int Total { get; set; }
          public Cart(int total) : base(total) { Total = total; }
          ~Cart() { Close(); }
          public async Task<int> LoadAsync(int id) => await Get(id);
          public static Cart operator +(Cart a, Cart b) { return a; }
          public int this[int i] { get { return i; } }
        }
        interface IVisit { void Visit(); }
        struct Line { int count; }
        record Money(int Amount);
        enum State { Open, Paid }
        delegate void Handler(int id);
        }
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.Cart", "method"), ("Cart.Cart", "method"),
            ("Cart.LoadAsync", "method"), ("Cart.operator", "method"), ("Cart.this", "method"),
            ("IVisit", "interface"), ("Line", "struct"), ("Money", "record"), ("State", "enum"),
            ("Handler", "delegate"),
        ],
    ),
    "ruby": (
        """\
        require 'json'
        module Shop
          class Cart < Base
        #FILL
            attr_reader :total
            def initialize(total)
              @total = total
            end
            def self.parse(text) = new(text)
            class << self
              def open; end
            end
          end
          class Cart::Line; end
        end
        def top; end
        """,
        [
            ("<module>", "module"), ("Shop.Cart", "class"), ("Shop.Cart.initialize", "method"),
            ("Shop.Cart.parse", "method"), ("Shop.Cart.open", "method"), ("Shop.Cart.Line", "class"),
            ("top", "method"),
        ],
    ),
    "php": (
        """\
        <?php
        namespace Shop\\Core;
        #[Entity]
        final class Cart extends Base implements Visit {
        //FILL
          const SIZE = 1;
          public function total(int $x): int { return $x; }
        }
        interface Visit { function visit(); }
        trait Sums { function sum() { return 1; } }
        enum State: string { case Open = 'o'; }
        function load($x) { return $x; }
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.total", "method"), ("Visit", "interface"),
            ("Sums", "trait"), ("State", "enum"), ("load", "function"),
        ],
    ),
    "bash": (
        "set -e\nload() { echo 1; }\nfunction save { echo 2; }\nif true; then\n  late() { :; }\nfi\n",
        [("<module>", "module"), ("load", "function"), ("save", "function"), ("late", "function")],
    ),
    "kotlin": (
        """\
        package shop
        data class Cart(val total: Int) : Base() {
        //FILL
            companion object {
                fun empty() = Cart(0)
            }
            override fun visit(x: Int): Int { return x }
            constructor(text: String) : this(1) { check(text) }
        }
        interface Visit {
            fun visit(x: Int): Int
        }
        enum class State { OPEN, PAID }
        object Registry { fun size() = 1 }
        fun String.twice(): String = this + this
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.empty", "method"), ("Cart.visit", "method"),
            ("Cart.constructor", "method"), ("Visit", "interface"), ("State", "enum"), ("Registry", "object"),
            ("twice", "function"),
        ],
    ),
    "scala": (
        """\
        package shop
        @deprecated class Cart(total: Int) extends Base with Visit {
        //FILL
          def sum(x: Int): Int = { x }
          val twice = (x: Int) => x * 2
        }
        object Cart { def empty = new Cart(0) }
        trait Visit { def visit: Int }
        enum State { case Open, Paid }
        def top = 2
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.sum", "method"), ("Cart.twice", "method"),
            ("Cart", "object"), ("Visit", "trait"), ("State", "enum"), ("top", "function"),
        ],
    ),
    "swift": (
        """\
        import Foundation
        @objc public class Cart: Base {
        //FILL
          var total: Int = 1
          init(total: Int) { self.total = total }
          func sum(_ x: Int) -> Int { return x }
        }
        struct Line { func clear() {} }
        enum State { case open, paid }
        protocol Visit { func visit() }
        extension Cart { func more() {} }
        actor Bank { func pay() {} }
        func load<T>(x: T) async throws {}
        """,
        [
            ("<module>", "module"), ("Cart", "class"), ("Cart.init", "method"), ("Cart.sum", "method"),
            ("Line", "struct"), ("State", "enum"), ("Visit", "protocol"), ("Cart", "extension"),
            ("Bank", "actor"), ("load", "function"),
        ],
    ),
    "lua": (
        "local function load(a) return a end\nfunction M.save(x) end\nfunction M:open(x) end\n"
        "M.close = function(y) end\nlocal late = function() end\nreturn M\n",
        [
            ("load", "function"), ("M.save", "function"), ("M.open", "function"), ("M.close", "function"),
            ("late", "function"), ("<module>", "module"),
        ],
    ),
    "elixir": (
        """\
        defmodule Shop.Cart do
        #FILL
          use Base
          @doc "Adds."
          def add(cart, line) when line > 0 do
            [line | cart]
          end
          def add(cart, _), do: cart
          defp hidden, do: 1
          defmacro build(x) do x end
        end
        defprotocol Visit do
          def visit(x)
        end
        """,
        [
            ("Shop.Cart", "module"), ("Shop.Cart.add", "function"), ("Shop.Cart.hidden", "function"),
            ("Shop.Cart.build", "macro"), ("Visit", "protocol"),
        ],
    ),
    "haskell": (
        "module Shop where\nimport Data.List\ntotal :: Int -> Int\ntotal 0 = 1\ntotal n = n * 2\n"
        "data Cart = Cart { lines :: Int }\nclass Visit a where\n  visit :: a -> a\n"
        "instance Visit Cart where\n  visit x = x\n",
        [
            ("<module>", "module"), ("total", "function"), ("Cart", "type"), ("Visit", "class"),
            ("Visit", "instance"),
        ],
    ),
    "zig": (
        'const std = @import("std");\npub const Cart = struct {\n    total: u32,\n'
        "    pub fn sum(self: *Cart) u32 { return self.total; }\n};\nconst State = enum { open, paid };\n"
        "pub fn main() !void { }\n",
        [("<module>", "module"), ("Cart", "struct"), ("State", "enum"), ("main", "function")],
    ),
    "sql": (
        "create table cart (id int primary key, name text);\n"
        "create or replace function total(a int) returns int as $$ begin return 1; end $$ language plpgsql;\n"
        "create view open_carts as select * from cart;\nselect a from cart where x = 1;\n",
        [("cart", "table"), ("total", "function"), ("open_carts", "view"), ("<module>", "module")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", SOURCES)
def test_definitions_have_their_dotted_names_and_kinds(language: str) -> None:
    source, expected = SOURCES[language]
    text = dedent(source)
    for mark, filler in FILLER.items():
        text = text.replace(f"{mark}FILL", filler)
    found = [
        (chunk.symbol, chunk.symbol_kind)
        for chunk, _ in cut(text, language, 160)
        if not chunk.is_continuation
    ]
    assert [pair for pair in found if pair in expected or pair[0] != "<module>"] == expected
