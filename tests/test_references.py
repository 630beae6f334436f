"""Definitions, references and imports, from a real parse to what the macros answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from repositories import make_repository

from repolake import pipeline
from repolake.grammars import GRAMMARS
from repolake.records import RepositorySpec
from repolake.references import FileReferences, find_references, reference_query
from repolake.search import Index, open_index
from repolake.settings import Settings
from repolake.syntax import captures, parse

FILES = {
    "src/shop/__init__.py": "from .cart import Cart\n",
    "src/shop/cart.py": """import os.path
from collections import OrderedDict
from . import prices as money

class Base:
    def close(self):
        pass

class Cart(Base):
    def total(self):
        return self.tax() + money.price(1) + os.path.getsize("x")

    def tax(self):
        return rounded(2)

def rounded(number):
    return OrderedDict(number)
""",
    "src/shop/prices.py": "def price(article):\n    return article\n\ndef lonely():\n    return 1\n",
    "tests/test_cart.py": """from shop import Cart

def test_total():
    cart = Cart()
    assert cart.total() == 1
    cart.save()
    thing.run()
""",
    "src/shop/jobs.py": "class One:\n    def run(self): ...\n\nclass Two:\n    def run(self): ...\n",
    "web/app.ts": """import { render as draw, type View } from './view.js';
import axios from 'axios';

export class App implements View {
  start() { return draw(axios.get('x')); }
}
""",
    "web/view.ts": "export function render(x: number) {}\nexport interface View { name: string }\n",
    "go.mod": "module example.org/shop\n\ngo 1.22\n",
    "main.go": """package main

import (
	"fmt"

	"example.org/shop/store"
)

func main() {
	fmt.Println(helper(), store.Open())
}
""",
    "helper.go": "package main\n\nfunc helper() int { return 1 }\n",
    "form.go": """package main

import "net/http"

type Form struct{ Request *http.Request }

func (f *Form) Upload() { f.Request.Upload() }
""",
    "store/store.go": "package store\n\nfunc Open() int { return 2 }\n",
    "java/acme/Shop.java": """package acme;

import acme.store.Shelf;

class Shop extends Base {
    void open() { Shelf shelf = new Shelf(); shelf.dust(); close(); }
    void close() { }
}
""",
    "java/acme/Base.java": "package acme;\n\nclass Base { }\n",
    "java/acme/store/Shelf.java": "package acme.store;\n\npublic class Shelf { public void dust() { } }\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("references")
    repository = make_repository(folder / "shop", FILES)
    settings = Settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository))], settings=settings)
    with open_index(folder / "data") as opened:
        yield opened


def found(text: str, language: str) -> FileReferences:
    grammar = GRAMMARS[language]
    root = parse(grammar, text.encode())
    assert root is not None
    captured = captures(grammar, reference_query(language), root)
    return find_references(captured, text.encode(), grammar, language)


def uses(index: Index, path: str) -> set[tuple[str, str, str, str | None]]:
    rows = index.sql(
        "select kind, name, tier, target_symbol from symbol_references where path = $path", {"path": path}
    )
    return {(row["kind"], row["name"], row["tier"], row["target_symbol"]) for row in rows.to_pylist()}


def test_python_names_lead_to_definitions_by_scope_and_by_import(index: Index):
    assert uses(index, "src/shop/cart.py") == {
        ("inherit", "Base", "same file", "Base"),
        ("call", "tax", "same file", "Cart.tax"),
        ("call", "price", "imported", "price"),
        ("call", "getsize", "external", None),
        ("call", "rounded", "same file", "rounded"),
        ("call", "OrderedDict", "external", None),
    }


def test_a_receiver_of_unknown_type_is_a_guess_or_ambiguous_or_left_out(index: Index):
    assert uses(index, "tests/test_cart.py") == {
        ("call", "Cart", "imported", "Cart"),
        ("call", "total", "unique in repository", "Cart.total"),
        ("call", "run", "ambiguous", None),
    }


def test_a_method_that_calls_its_own_name_on_another_object_is_not_taken_for_its_target(index: Index):
    assert ("call", "Upload", "ambiguous", None) in uses(index, "form.go")
    assert ("call", "Upload", "unique in repository", "Form.Upload") not in uses(index, "form.go")


def test_typescript_names_lead_to_what_their_import_renamed(index: Index):
    assert uses(index, "web/app.ts") == {
        ("inherit", "View", "imported", "View"),
        ("call", "draw", "imported", "render"),
        ("call", "get", "external", None),
    }


def test_go_sees_its_folder_and_the_packages_of_its_module(index: Index):
    assert uses(index, "main.go") == {
        ("call", "helper", "same package", "helper"),
        ("call", "Open", "imported", "Open"),
        ("call", "Println", "external", None),
    }


def test_java_sees_its_package_its_imports_and_its_own_members(index: Index):
    assert uses(index, "java/acme/Shop.java") == {
        ("inherit", "Base", "same package", "Base"),
        ("name", "Shelf", "imported", "Shelf"),
        ("call", "Shelf", "imported", "Shelf"),
        ("call", "dust", "unique in repository", "Shelf.dust"),
        ("call", "close", "same file", "Shop.close"),
    }


def test_imports_name_the_file_or_folder_of_the_repository_that_they_mean(index: Index):
    rows = index.sql("select path, module, name, target_path from imports").to_pylist()
    targets = {(row["path"], row["module"], row["name"]): row["target_path"] for row in rows}
    assert targets["src/shop/cart.py", ".", "prices"] == "src/shop/prices.py"
    assert targets["src/shop/cart.py", "os.path", None] is None
    assert targets["src/shop/__init__.py", ".cart", "Cart"] == "src/shop/cart.py"
    assert targets["tests/test_cart.py", "shop", "Cart"] == "src/shop/__init__.py"
    assert targets["web/app.ts", "./view.js", "render"] == "web/view.ts"
    assert targets["main.go", "example.org/shop/store", None] == "store/"
    assert targets["java/acme/Shop.java", "acme.store", "Shelf"] == "java/acme/store/Shelf.java"


def test_definitions_inside_a_chunk_of_a_class_are_found_by_name_and_path(index: Index):
    rows = index.sql("select symbol, path, start_line, end_line, symbol_kind from definitions('tax')")
    assert rows.to_pylist() == [
        {
            "symbol": "Cart.tax",
            "path": "src/shop/cart.py",
            "start_line": 13,
            "end_line": 14,
            "symbol_kind": "method",
        }
    ]
    assert index.sql("from definitions('One.run')").num_rows == 1
    assert index.sql("from definitions('run')").num_rows == 2


def test_callers_name_the_definition_around_the_call(index: Index):
    rows = index.sql("select path, caller, tier, first_line from callers('price')").to_pylist()
    assert rows == [
        {"path": "src/shop/cart.py", "caller": "Cart.total", "tier": "imported", "first_line": 11}
    ]
    assert index.sql("select caller from callers('Cart.total')")["caller"].to_pylist() == ["test_total"]
    assert index.sql("from callers('lonely')").num_rows == 0


def test_a_dotted_path_wants_references_to_that_very_symbol(index: Index):
    assert index.sql("from references_to('Cart.tax')").num_rows == 1
    assert index.sql("from references_to('Cart.price')").num_rows == 0
    assert index.sql("select distinct tier from references_to('run')")["tier"].to_pylist() == ["ambiguous"]


def test_locals_and_names_of_the_language_are_no_references():
    text = "def f(x):\n    y = x\n    print(len(y))\n    return g(y)\n\ndef g(z):\n    return z()\n"
    assert [(name, symbol) for _, name, _, symbol, _ in found(text, "python").references] == [("g", "f")]


def test_a_name_is_kept_once_and_under_what_it_is_most():
    text = "package p\n\ntype A struct {\n\tB\n\tc.D\n}\n\nfunc f(a *A) { g(A{}) }\n"
    kept = [(kind, before, name) for kind, name, before, _, _ in found(text, "go").references]
    assert kept == [
        ("inherit", None, "B"),
        ("inherit", "c", "D"),
        ("name", None, "A"),
        ("call", None, "g"),
        ("name", None, "A"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const { a, b: c } = require('x')", [("x", "a", "a"), ("x", "b", "c")]),
        ("import d, * as ns from 'x'", [("x", "default", "d"), ("x", None, "ns")]),
        ("export * from './x'", [("./x", "*", None)]),
        ("import 'x'", [("x", None, None)]),
        ("const r = read('x')", []),
    ],
)
def test_imports_of_javascript_are_read_in_all_their_forms(
    text: str, expected: list[tuple[str, str | None, str | None]]
):
    imports = found(text, "javascript").imports
    assert [(one.module, one.name, one.local_name) for one in imports] == expected
