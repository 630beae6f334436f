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
        ({"path": "a.py"}, "line 1: no query"),
        ({"query": "  ", "path": "a.py"}, "line 1: no query"),
        ({"query": "x"}, "line 1: no target"),
        ({"query": "x", "path": "a.py", "start_line": 9, "end_line": 3}, "lines 9 to 3 are no span"),
        ({"query": "x", "path": "a.py", "start_line": 9}, "lines 9 to None are no span"),
        ({"query": "x", "targets": [{"path": "a", "grade": 0}]}, "grade 0 is below 1"),
        ([1, 2], "line 1: "),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path, row, complaint):
    with pytest.raises(UsageError, match=complaint):
        read_labels(write(tmp_path / "q.jsonl", row))


def test_a_repeated_id_an_empty_file_and_a_missing_file_are_refused(tmp_path):
    row = {"id": "a", "query": "x", "path": "a.py"}
    with pytest.raises(UsageError, match="line 2: the id 'a' is used twice"):
        read_labels(write(tmp_path / "q.jsonl", row, row))
    with pytest.raises(UsageError, match="holds no query"):
        read_labels(write(tmp_path / "empty.jsonl"))
    with pytest.raises(UsageError, match="cannot read"):
        read_labels(tmp_path / "missing.jsonl")
