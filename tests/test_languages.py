"""File name and first bytes to language."""

from __future__ import annotations

import pytest

from repolake.languages import language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"), ("a.pyi", "python"), ("A.PY", "python"), ("a.ts", "typescript"), ("a.tsx", "tsx"),
        ("a.jsx", "javascript"), ("a.mjs", "javascript"), ("a.java", "java"), ("a.kt", "kotlin"),
        ("a.go", "go"),
        ("a.rs", "rust"), ("a.c", "c"), ("a.cc", "cpp"), ("a.hpp", "cpp"), ("a.cs", "csharp"),
        ("a.rb", "ruby"),
        ("Rakefile", "ruby"), ("x/Gemfile", "ruby"), ("a.php", "php"), ("a.swift", "swift"),
        ("a.scala", "scala"),
        ("a.sh", "bash"), (".bashrc", "bash"), ("a.sql", "sql"), ("a.html", "html"), ("a.css", "css"),
        ("a.json", "json"), (".eslintrc", "json"), ("a.yml", "yaml"), ("pyproject.toml", "toml"),
        ("Pipfile", "toml"),
        ("README.md", "markdown"), ("a.rst", "rst"), ("README", "text"), ("LICENSE", "text"),
        ("a.txt", "text"),
        ("Dockerfile", "dockerfile"), ("Dockerfile.prod", "dockerfile"), ("Makefile", "make"),
        ("CMakeLists.txt", "cmake"), ("nb.ipynb", "python"), ("x.blade.php", "template"),
        ("a.erb", "template"),
        ("config.yaml.in", "yaml"), ("a.unknown", "text"), ("noending", "text"), (".hidden", "text"),
        ("a.", "text"), ("cart.inc.in", "text"), ("a.feature", "gherkin"), ("a.zsh-theme", "bash"),
        ("a.tcc", "cpp"),
        ("a.coffee", "coffeescript"), ("a.exp", "tcl"),
    ],
)  # fmt: skip
def test_a_name_tells_the_language(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"), (b"#!/usr/bin/python2.7 -u\n", "python"),
        (b"#!/bin/sh\n", "bash"),
        (b"#! /bin/bash -e\n", "bash"), (b"#!/usr/bin/env -S node --flag\n", "javascript"),
        (b"#!/usr/bin/env ruby\n", "ruby"), (b"#!/usr/bin/env A=1 perl\n", "perl"),
        (b"#!/usr/bin/env pwsh\n", "powershell"),
        (b"#!/usr/bin/unknown\n", "text"), (b"no shebang", "text"), (b"\xef\xbb\xbf#!/bin/sh\n", "bash"),
    ],
)  # fmt: skip
def test_a_script_without_an_ending_is_told_by_its_interpreter(first_line: bytes, language: str) -> None:
    assert language_of("bin/tool", first_line) == language


def test_shared_endings_are_told_by_the_content() -> None:
    assert language_of("a.h", b"#include <stdio.h>\nint f(void);\n") == "c"
    assert language_of("a.h", b"#pragma once\nnamespace a {\nclass B;\n}\n") == "cpp"
    prose = b"""/*\n  class name, this must be told\n  using the cart\n  namespace of carts
  virtual memory\n  enum class names\n * like std::vector\n*/\n// not std::vector\n"""
    assert language_of("a.h", prose + b"int f(void);\n") == "c"
    for line in (
        b"class LIB_API Cart : Base {",
        b"inline namespace v1 {",
        b"using Id = int;",
        b"using namespace a;",
        b"enum class Kind : int { A };",
        b"struct Cart { int id; };\n  virtual ~Cart() = default;",
        b"inline std::string name();",
    ):
        assert language_of("a.h", prose + line + b"\n") == "cpp", line
    assert language_of("a.h", b"#import <a.h>\n@interface Cart : NSObject\n@end\n") == "objective_c"
    assert language_of("a.h", b"/**\n@interface Cart\n*/\nint f(void);\n") == "c"
    assert language_of("a.cls", b"public class Cart {\n}\n") == "apex"
    assert language_of("a.cls", b"VERSION 1.0 CLASS\r\nBEGIN\r\nEND\r\n") == "visual_basic"
    assert language_of("a.cls", b'Attribute VB_Name = "Cart"\n') == "visual_basic"
    assert language_of("a.cls", b"% A class\n\\ProvidesClass{cart}\n") == "latex"
    assert language_of("a.m", b"#import <Foundation/Foundation.h>\n@implementation A\n") == "objective_c"
    assert language_of("a.m", b"function y = f(x)\ny = x;\n") == "matlab"
    assert language_of("a.ts", b"const a = 1;\n") == "typescript"
    assert language_of("a.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n') == "xml"
    assert language_of("a.inc", b"<?php echo 1;\n") == "php"
    assert language_of("a.inc", b"mov ax, bx\n") == "text"
    assert language_of("a.inc", b"// parts of a class\n#ifdef CART\nvoid open();\n#endif\n") == "cpp"
