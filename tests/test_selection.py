"""`search --select`: a real endpoint on this machine picks files from the repository map."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from repositories import make_repository

from repolake import pipeline
from repolake.errors import QueryError
from repolake.records import RepositorySpec
from repolake.search import open_index
from repolake.selection import checked_url, read_answer
from repolake.settings import Settings

ROOT = Path(__file__).parent.parent
PROGRAM = [sys.executable, "-m", "repolake"]
PATHS = ["src/app.py", "src/app/cart.py", "cart.py"]
FILES = {
    "money.py": 'SECRET = "only in the body"\n\n\ndef add_tax(amount):\n    return amount * 1.19\n',
    "cart.py": "from money import add_tax\n\n\ndef total(rows):\n    return add_tax(sum(rows))\n",
    "zoo.py": "def feed(animal):\n    return animal\n",
    "test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
}


@dataclass
class Endpoint:
    """A model's endpoint that gives the same answer to all; it keeps what it was sent."""

    answer: Any = ""
    status: int = 200
    wait_seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    refuses_temperature: bool = False
    url: str = ""
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


@contextmanager
def listening(endpoint: Endpoint) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append((self.path, dict(self.headers), body))
            time.sleep(endpoint.wait_seconds)
            status = 400 if endpoint.refuses_temperature and "temperature" in body else endpoint.status
            content = endpoint.answer
            if isinstance(content, str):
                message = {"role": "assistant", "content": content}
                content = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            answer = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in endpoint.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("selection")
    repository = make_repository(folder / "shop", FILES)
    pipeline.index(
        [RepositorySpec(str(repository))], settings=Settings(data_dir=folder / "data", model="fast")
    )
    return folder / "data"


def search(data_dir: Path, endpoint: Endpoint, **settings: Any) -> Any:
    with open_index(data_dir, settings=Settings(**settings)) as index:
        return index.search("what is paid in the end", select=endpoint.url)


def test_picked_files_gain_in_the_order_of_the_answer(data_dir: Path):
    with listening(Endpoint('```json\n["zoo.py", "./money.py", "invented.py"]\n```')) as endpoint:
        hits = search(data_dir, endpoint)
    ranks = {hit.symbol: hit.arm_ranks for hit in hits}
    assert ranks["feed"] == {"selected": 1}
    assert ranks["add_tax"] == {"selected": 2}
    assert ranks["total"] is None
    assert hits.notes == ()
    with open_index(data_dir) as index:
        before = {hit.symbol: hit.score for hit in index.search("what is paid in the end")}
    after = {hit.symbol: hit.score for hit in hits}
    assert after["feed"] - before.get("feed", 0) > after["add_tax"] - before["add_tax"] > 0


def test_only_the_query_and_the_map_leave_the_machine(data_dir: Path):
    with listening(Endpoint('["cart.py"]')) as endpoint:
        search(data_dir, endpoint, select_model="picker-7b", select_key="s3cret")
    [(path, headers, body)] = endpoint.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer s3cret"
    assert body["model"] == "picker-7b"
    [_, asked] = body["messages"]
    lines = asked["content"].splitlines()
    assert lines[-1] == "Question: what is paid in the end"
    assert {line.strip() for line in lines if "def " in line} == {
        "4: def add_tax(amount):",
        "4: def total(rows):",
        "1: def feed(animal):",
    }
    sent = json.dumps(body)
    assert "only in the body" not in sent
    assert "1.19" not in sent
    assert "test_cart" not in sent  # a map is of source files


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        (Endpoint("I would look at the cart module."), "names no file of the map"),
        (Endpoint('["src/invented.py"]'), "names no file of the map"),
        (Endpoint({"error": "out of memory"}), "is no chat completion"),
        (Endpoint(b"<html>"), "is no chat completion: <html>"),
        (Endpoint({"choices": [{"message": {"content": None}}]}), "holds no text"),
        (Endpoint("zoo.py", status=401), "answered 401"),
        (Endpoint("zoo.py", status=302, headers={"Location": "http://127.0.0.1:9/"}), "answered 302"),
        (Endpoint(b"x" * 2_000_000), "longer than"),
        (Endpoint("zoo.py", wait_seconds=3), "timed out"),
    ],
)
def test_an_answer_without_use_is_a_note_and_the_hybrid_order_stands(
    data_dir: Path, endpoint: Endpoint, words: str
):
    with listening(endpoint):
        hits = search(data_dir, endpoint, select_timeout_seconds=1)
    [note] = hits.notes
    assert words in note
    assert "\n" not in note
    with open_index(data_dir) as index:
        plain = index.search("what is paid in the end")
    assert [hit.chunk_id for hit in hits] == [hit.chunk_id for hit in plain]


def test_an_endpoint_that_is_not_there_is_a_note(data_dir: Path):
    with listening(Endpoint()) as gone:
        pass
    [note] = search(data_dir, gone).notes
    assert "Connection refused" in note


def test_a_model_without_a_temperature_is_asked_again_without(data_dir: Path):
    with listening(Endpoint('["zoo.py"]', refuses_temperature=True)) as endpoint:
        hits = search(data_dir, endpoint)
    assert ["temperature" in body for _, _, body in endpoint.asked] == [True, False]
    assert any(hit.arm_ranks == {"selected": 1} for hit in hits)


def test_the_map_is_of_one_repository(tmp_path: Path):
    repositories = [
        make_repository(tmp_path / name, {f"{name}.py": "def f(): ...\n"}) for name in ("one", "two")
    ]
    settings = Settings(data_dir=tmp_path / "data", model="fast")
    pipeline.index([RepositorySpec(str(folder)) for folder in repositories], settings=settings)
    with open_index(tmp_path / "data") as index, listening(Endpoint("two.py")) as endpoint:
        with pytest.raises(QueryError, match="name it with --repository: one, two"):
            index.search("f", select=endpoint.url)
        hits = index.search("f", select=endpoint.url, repository="two")
    assert [hit.arm_ranks for hit in hits] == [{"selected": 1}]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://localhost:8080/v1", "http://localhost:8080/v1/chat/completions"),
        ("https://example.org/v1/chat/completions/", "https://example.org/v1/chat/completions"),
        ("http://[::1]:80/v1?key=1", "http://[::1]:80/v1/chat/completions?key=1"),
    ],
)
def test_the_address_is_that_of_chat_completions(given: str, address: str):
    assert checked_url(given) == address


@pytest.mark.parametrize("given", ["", "localhost:8080", "file:///etc/passwd", "http://", "http://h:x/v1"])
def test_what_is_no_address_is_refused(given: str):
    with pytest.raises(QueryError, match="no address of a model"):
        checked_url(given)


@pytest.mark.parametrize(
    ("answer", "picked"),
    [
        ('["cart.py", "src/app.py"]', ["cart.py", "src/app.py"]),
        ('Sure!\n```json\n["src/app/cart.py"]\n```\nHope [1] this helps.', ["src/app/cart.py"]),
        ('<think>maybe ["cart.py"]</think>["src/app.py", "src/app.py"]', ["src/app.py"]),
        ("1. `src/app/cart.py`\n2. src/app.py: the app", ["src/app/cart.py", "src/app.py"]),
        ("Look at /cart.py or ./cart.py.", []),
        ("my_cart.py and cart.pyi", []),
        ('["/cart.py", 3, null]', ["cart.py"]),
        ("[not json] cart.py", ["cart.py"]),
        ("nothing", []),
        ("", []),
    ],
)
def test_paths_are_read_from_lists_fences_and_prose_and_never_invented(answer: str, picked: list[str]):
    assert read_answer(answer, PATHS) == picked


def test_the_command_shows_the_arm_and_refuses_a_wrong_address(data_dir: Path):
    def run(url: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, "search", "feed", "--select", url, "--explain", "--data-dir", str(data_dir)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    with listening(Endpoint('["zoo.py"]')) as endpoint:
        assert "selected rank 1" in run(endpoint.url).stdout
    refused = run("ftp://example.org")
    assert refused.returncode == 2
    problem = "'ftp://example.org' is no address of a model"
    assert refused.stderr == f"repolake: {problem}; give one such as http://localhost:8080/v1\n"
