"""The labelled queries of tests/eval: labels are real definitions, splits are fair, flags are right."""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

EVAL = Path(__file__).parent / "eval"
FETCH = EVAL / "fetch_corpora.py"
FIELDS = {
    "id", "query", "corpus", "path", "symbol", "targets", "category", "language", "split", "symbol_in_query",
}  # fmt: skip
CATEGORIES = {"behaviour", "identifier", "error_message", "how_to", "architecture"}
LANGUAGES = {".py": "python", ".rs": "rust", ".ts": "typescript", ".tsx": "typescript", ".c": "c"}
STDLIB = "stdlib@3.11"
only_on_python_311 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the labels are of the library of Python 3.11"
)

Row = dict[str, Any]


def read_rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (EVAL / name).read_text(encoding="utf-8").splitlines()]


ROWS = read_rows("queries.jsonl")
SMALL_ROWS = read_rows("small.jsonl")
CORPORA = {
    entry["corpus"]: entry
    for entry in tomllib.loads((EVAL / "corpora.toml").read_text(encoding="utf-8"))["corpora"]
}
SDISTS = [name for name, entry in CORPORA.items() if entry["source"] == "sdist"]


@cache
def python_definitions(text: str) -> list[str]:
    """Dotted names of all classes and functions, as Python's own parser sees them."""
    found: list[str] = []

    def visit(node: ast.AST, owners: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(".".join((*owners, child.name)))
                visit(child, (*owners, child.name))
            else:
                visit(child, owners)

    visit(ast.parse(text), ())
    return found


def laid_out_definitions(text: str, symbol: str, suffix: str) -> list[int]:
    """Lines that define `symbol` in Rust, TypeScript or C; the layout tells the owner: it is not indented."""
    *owners, name = map(re.escape, symbol.split("."))
    owner = owners[0] if owners else ""
    if suffix == ".c":
        opening = rf"[A-Za-z].*\b{name}\s*\(.*\)\n\{{"
    elif suffix == ".rs":
        opening = rf'(?:pub(?:\(\w+\))? )?(?:extern "C" )?fn {name}\b'
    elif owner:
        opening = rf"(?:(?:public|private|protected|static|async) )*{name}[(<]"
    else:
        opening = rf"(?:export )?(?:async )?function {name}\b"
    indent = r"(?:  |    )" if owner else ""
    margin = rf"(?:impl(?:<.*?>)? (?:\S+ for )?{owner}\b|(?:export )?class {owner}\b)"
    lines = []
    for match in re.finditer(rf"^{indent}{opening}", text, re.MULTILINE):
        before = text[: match.start()].splitlines()
        enclosing = next(
            (line for line in reversed(before) if re.match(r"impl\b|(?:export )?class\b|\}", line)), ""
        )
        if not owner or re.match(margin, enclosing):
            lines.append(len(before) + 1)
    return lines


def unresolved(rows: list[Row], folder: Path) -> list[str]:
    """Labels that are not exactly one definition below `folder`."""
    wrong = []
    for row in rows:
        for target in row["targets"]:
            path = folder / target["path"]
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if path.suffix == ".py":
                count = python_definitions(text).count(target["symbol"])
            else:
                count = len(laid_out_definitions(text, target["symbol"], path.suffix))
            if count != 1:
                wrong.append(f"{row['id']}: {target['path']} defines {target['symbol']} {count} times")
    return wrong


def is_named(row: Row) -> bool:
    """Whether the last name of a target stands in the query as a word of its own."""
    names = {target["symbol"].rsplit(".", 1)[-1].strip("_") for target in row["targets"]}
    return any(
        re.search(rf"(?<![A-Za-z0-9])_*{re.escape(name)}_*(?![A-Za-z0-9])", row["query"], re.IGNORECASE)
        for name in names
    )


def test_there_are_enough_questions_to_decide_on():
    assert len(ROWS) >= 150
    assert sum(row["corpus"] == STDLIB for row in ROWS) >= 60


def test_every_row_has_the_documented_fields_and_values():
    for row in ROWS + SMALL_ROWS:
        assert set(row) == FIELDS, row["id"]
        assert row["category"] in CATEGORIES, row["id"]
        assert row["split"] in {"dev", "test"}, row["id"]
        assert row["corpus"] in CORPORA, row["id"]
        assert row["language"] == LANGUAGES[Path(row["path"]).suffix], row["id"]
        assert row["query"] == row["query"].strip(), row["id"]


def test_the_first_target_is_the_primary_one_and_no_target_stands_twice():
    for row in ROWS + SMALL_ROWS:
        places = [(target["path"], target["symbol"]) for target in row["targets"]]
        assert places[0] == (row["path"], row["symbol"]), row["id"]
        assert row["targets"][0]["grade"] == 2, row["id"]
        assert {target["grade"] for target in row["targets"]} <= {1, 2}, row["id"]
        assert len(set(places)) == len(places), row["id"]


def test_ids_are_unique_and_no_question_is_asked_twice():
    assert not [name for name, count in Counter(row["id"] for row in ROWS).items() if count > 1]
    asked = Counter(" ".join(re.findall(r"\w+", row["query"].casefold())) for row in ROWS)
    assert not [question for question, count in asked.items() if count > 1]


def test_dev_and_test_share_every_corpus_and_category_equally():
    difference: Counter[tuple[str, str]] = Counter()
    for row in ROWS:
        difference[row["corpus"], row["category"]] += 1 if row["split"] == "dev" else -1
    assert {stratum: count for stratum, count in difference.items() if abs(count) > 1} == {}
    assert abs(sum(difference.values())) <= len(ROWS) / 50


def test_symbol_in_query_is_set_exactly_if_a_target_is_named():
    assert [row["id"] for row in ROWS + SMALL_ROWS if row["symbol_in_query"] != is_named(row)] == []


def test_most_questions_name_no_target_and_identifier_questions_all_do():
    assert sum(row["symbol_in_query"] for row in ROWS) <= len(ROWS) / 5
    assert all(row["symbol_in_query"] for row in ROWS if row["category"] == "identifier")


@only_on_python_311
def test_every_label_of_the_standard_library_is_one_definition():
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    assert unresolved([row for row in ROWS if row["corpus"] == STDLIB], stdlib) == []


@pytest.mark.parametrize("corpus", SDISTS)
def test_every_label_of_a_source_distribution_is_one_definition(corpus: str):
    if "EVAL_CORPORA" not in os.environ:
        pytest.skip("EVAL_CORPORA names no folder filled by tests/eval/fetch_corpora.py")
    folder = Path(os.environ["EVAL_CORPORA"]) / corpus
    assert folder.is_dir(), f"{folder} is missing: run tests/eval/fetch_corpora.py"
    assert unresolved([row for row in ROWS if row["corpus"] == corpus], folder) == []


def test_every_source_distribution_is_pinned_and_asked_about():
    assert all(re.fullmatch("[0-9a-f]{64}", CORPORA[name]["sha256"]) for name in SDISTS)
    assert {row["corpus"] for row in ROWS} == {STDLIB, *SDISTS}


def test_the_small_set_holds_dev_questions_that_a_small_part_of_the_library_answers():
    included = CORPORA["stdlib-small@3.11"]["include"]
    originals = {row["id"]: row for row in ROWS}
    assert len(SMALL_ROWS) >= 20
    for row in SMALL_ROWS:
        original = originals[row["id"]]
        inside = [target for target in original["targets"] if target["path"].split("/")[0] in included]
        assert row == {**original, "corpus": "stdlib-small@3.11", "targets": inside}
        assert row["split"] == "dev"
        assert [
            target for target in original["targets"] if target["grade"] == 2 and target not in inside
        ] == []


@only_on_python_311
def test_the_fetched_small_corpus_holds_every_label_of_the_small_set(tmp_path: Path):
    command = [sys.executable, str(FETCH), str(tmp_path), "stdlib-small@3.11"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    folder = Path(finished.stdout.strip())
    assert folder == tmp_path / "stdlib-small@3.11"
    assert list(tmp_path.iterdir()) == [folder]
    assert list(folder.rglob("__pycache__")) == []
    assert unresolved(SMALL_ROWS, folder) == []


def test_an_archive_loses_its_top_folder_and_ignore_files_and_cannot_write_outside(tmp_path: Path):
    archive = tmp_path / "thing-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as members:
        for name in ("thing-1.0/src/a.py", "thing-1.0/.gitignore", "thing-1.0/../../outside.py", "top.py"):
            member = tarfile.TarInfo(name)
            member.size = 6
            members.addfile(member, BytesIO(b"x = 1\n"))
        link = tarfile.TarInfo("thing-1.0/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        members.addfile(link)
    target = tmp_path / "deep" / "corpus"
    runpy.run_path(str(FETCH))["unpack_sdist"](archive, target)
    written = [path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()]
    assert written == ["src/a.py"]
    assert not (tmp_path / "outside.py").exists()


def test_an_unknown_corpus_is_refused_with_the_names_that_exist(tmp_path: Path):
    command = [sys.executable, str(FETCH), str(tmp_path), "requests@9"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert "no corpus requests@9" in finished.stderr
    assert "requests@2.32.3" in finished.stderr
