"""Reading labelled queries."""

import json

import pytest

from repolake.errors import UsageError
from repolake.labels import read_labels
from repolake.metrics import Target


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_row_with_one_target_and_a_row_with_several_are_read(tmp_path):
    file = write(
        tmp_path / "q.jsonl",
        {"query": "first", "path": "a.py", "symbol": "f"},
        {
            "id": "q2",
            "query": "second",
            "repository": "r",
            "targets": [{"path": "b.py", "start_line": 3, "end_line": 9, "grade": 2}, {"path": "c.py"}],
        },
    )
    first, second = read_labels(file)
    assert (first.query_id, first.targets) == ("1", (Target("a.py", "f"),))
    assert (second.query_id, second.repository) == ("q2", "r")
    assert second.targets == (Target("b.py", None, 3, 9, 2), Target("c.py"))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"path": "a.py"}, "line 1: no `query`"),
        ({"query": "  ", "path": "a.py"}, "line 1: `query` is empty"),
        ({"query": "x"}, "line 1: no target"),
        ({"query": "x", "path": "a.py", "start_line": 9, "end_line": 3}, "lines 9 to 3 are no span"),
        ({"query": "x", "path": "a.py", "start_line": 9}, "lines 9 to None are no span"),
        (
            {"query": "x", "targets": [{"path": "a", "grade": 0}]},
            "`targets.0.grade`: input should be greater",
        ),
        ({"query": "x", "targets": [{"symbol": "f"}]}, "line 1: no `targets.0.path`"),
        ({"query": "x", "targets": ["a.py"]}, "`targets.0` is not a JSON object"),
        (
            {"query": "x", "path": "a.py", "start_line": "nine", "end_line": 9},
            "`start_line`: input should be a",
        ),
        ({"query": "x", "path": "a.py", "symbl": "f"}, "unknown key `symbl`: is `symbol` meant"),
        ({"query": "x", "targets": [{"path": "a.py", "endline": 2}]}, "is `end_line` meant"),
        ([1, 2], "line 1: not a JSON object"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path, row, complaint):
    with pytest.raises(UsageError, match=complaint):
        read_labels(write(tmp_path / "q.jsonl", row))


def test_a_line_that_is_no_json_is_refused_with_its_line(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"query": "x", "path": "a.py"}\n{"query": "x"\n')
    with pytest.raises(UsageError, match=r"line 2: no JSON .*one JSON object a line"):
        read_labels(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no UTF-8 text"):
        read_labels(file)


def test_notes_of_the_author_a_byte_order_mark_and_a_dot_before_the_path_do_no_harm(tmp_path):
    row = {
        "query": "x",
        "path": "./src/a.py",
        "start_line": "2",
        "end_line": 3,
        "asked_by": "Ann",
        "rev": "1a",
    }
    file = tmp_path / "q.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(row).encode() + b"\r\n")
    assert read_labels(file)[0].targets == (Target("src/a.py", None, 2, 3),)


def test_only_the_queries_of_a_split_are_read_and_an_unknown_split_is_refused(tmp_path):
    rows = [{"id": name, "query": "x", "path": "a.py", "split": name} for name in ("dev", "test")]
    file = write(tmp_path / "q.jsonl", *rows)
    assert [label.query_id for label in read_labels(file, "dev")] == ["dev"]
    with pytest.raises(UsageError, match="no query of the split 'train'; it has dev, test"):
        read_labels(file, "train")


def test_a_repeated_id_an_empty_file_and_a_missing_file_are_refused(tmp_path):
    row = {"id": "a", "query": "x", "path": "a.py"}
    with pytest.raises(UsageError, match="line 2: the id 'a' is used twice"):
        read_labels(write(tmp_path / "q.jsonl", row, row))
    with pytest.raises(UsageError, match="holds no query"):
        read_labels(write(tmp_path / "empty.jsonl"))
    with pytest.raises(UsageError, match="cannot read"):
        read_labels(tmp_path / "missing.jsonl")
