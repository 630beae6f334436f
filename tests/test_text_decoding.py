"""Bytes to text: each step of the order, with texts whose right decoding is known."""

from __future__ import annotations

import codecs
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repolake.text_decoding import decode

SENTENCES = {
    "fr": "# Cette fonction vérifie que les données sont prêtes à être utilisées\nx = 1\n",
    "pl": "# Ta funkcja sprawdza, czy źródło zostało już wczytane i zamknięte\nx = 1\n",
    "ru": "# Функция проверяет, что данные готовы к использованию в программе\nx = 1\n",
    "ja": "# この関数はデータが使用できる状態かどうかを確認します。\nx = 1\n",
    "zh": "# 这个函数检查数据是否已经准备好可以使用\nx = 1\n",
    "ko": "# 이 함수는 데이터를 사용할 준비가 되었는지 확인합니다\nx = 1\n",
    "el": "# Η συνάρτηση ελέγχει πως τα δεδομένα είναι έτοιμα για χρήση\nx = 1\n",
}


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("text", ["", "def first():\n    return 'é 名前'\n", "odd"])
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(mark: bytes, encoding: str, text: str) -> None:
    decoded = decode(mark + text.encode(encoding), "a.py")
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, encoding)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf8_text_comes_back_as_it_is(text: str) -> None:
    decoded = decode(text.encode(), "a.txt")
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("fr", "latin-1"), ("fr", "cp1252"), ("pl", "cp1250"), ("ru", "cp1251"), ("ru", "koi8_r"),
        ("ja", "cp932"), ("ja", "euc_jp"), ("zh", "gb18030"), ("ko", "cp949"), ("el", "cp1253"),
    ],
)  # fmt: skip
def test_legacy_encodings_are_detected(language: str, encoding: str) -> None:
    text = SENTENCES[language] * 3
    decoded = decode(text.encode(encoding), "a.py")
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize("data", [b"# caf\xe9\ndef f(): pass\n", b"# \x93quoted\x94\ndef f(): pass\n"])
def test_a_few_odd_bytes_are_read_as_windows_1252(data: bytes) -> None:
    decoded = decode(data, "a.py")
    assert decoded is not None
    assert decoded.encoding == "cp1252"
    assert decoded.text == data.decode("cp1252")


def _text(data: bytes, path: str) -> str:
    decoded = decode(data, path)
    assert decoded is not None
    return decoded.text


def test_a_coding_line_decides_for_python_and_only_helps_elsewhere() -> None:
    python = "# -*- coding: koi8-r -*-\nx = 'ж'\n".encode("koi8-r")
    decoded = decode(python, "a.py")
    assert decoded is not None
    assert decoded.text.endswith("x = 'ж'\n")
    valid_utf8 = "# coding: latin-1\nx = 'é'\n".encode()
    assert "Ã©" in _text(valid_utf8, "a.py")  # as Python itself reads it
    assert "'é'" in _text(valid_utf8, "a.lua")
    second_line = b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = '\xe6'\n"
    assert "'ж'" in _text(second_line, "a.py")


@pytest.mark.parametrize(
    "name", ["rot13", "utf-7", "unicode_escape", "nonsense", "hex", "idna", "utf-16", "cp500"]
)
def test_a_coding_line_cannot_name_what_is_no_charset(name: str) -> None:
    decoded = decode(f"# coding: {name}\nx = '\\u0041+AGE-'\n".encode(), "a.py")
    assert decoded is not None
    assert decoded.text == f"# coding: {name}\nx = '\\u0041+AGE-'\n"


@pytest.mark.parametrize("position", [0, 600, 9_000, 300_000])
def test_a_nul_means_binary_wherever_it_stands(position: int) -> None:
    assert decode(b"x" * position + b"\0" + b"def f(): pass\n", "a.py") is None


def test_utf16_without_a_mark_and_random_bytes_are_not_text() -> None:
    assert decode("def f(): pass\n".encode("utf-16-le"), "a.py") is None
    assert decode(bytes(byte or 1 for byte in os.urandom(4096)), "a.py") is None
    assert decode("nul \0 inside".encode("utf-16"), "a.py") is None


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("a\rb\x0bc\u2028d\n", 1)],
)
def test_lines_are_counted_by_newline_alone(text: str, count: int) -> None:
    decoded = decode(text.encode(), "a.txt")
    assert decoded is not None
    assert decoded.line_count == count
