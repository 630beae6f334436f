"""A real server process on a free port, for tests over HTTP."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from repolake import pipeline
from repolake.records import RepositorySpec
from repolake.settings import load_settings

ROOT = Path(__file__).parent.parent
WAIT_SECONDS = 120


@dataclass(frozen=True)
class Server:
    """A running server: its address, such as http://127.0.0.1:40001, its process and a client."""

    address: str
    process: subprocess.Popen[str]
    client: httpx.Client

    def json(self, path: str, /, **parameters: object) -> object:
        """Return the JSON of a successful answer."""
        answer = self.client.get(path, params=parameters)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait_for(self, index: str) -> None:
        """Wait until the server answers from this database."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.client.get("/healthz").json()["index"] != index:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def command(data_dir: Path, *arguments: str) -> list[str]:
    """Return the command line of a server on a free port."""
    return [sys.executable, "-m", "repolake", "serve", "--port", "0", "--data-dir", str(data_dir), *arguments]


def environment(**settings: object) -> dict[str, str]:
    """Return the environment of a server with these settings, such as sql=True."""
    given = {f"REPOLAKE_SERVE_{name.upper()}": str(value) for name, value in settings.items()}
    return {**os.environ, "PYTHONPATH": str(ROOT), **given}


@contextmanager
def serving(data_dir: Path, *arguments: str, **settings: object) -> Iterator[Server]:
    """Run `repolake serve` until the block ends; the process must end by itself on SIGTERM, with 0."""
    process = subprocess.Popen(
        command(data_dir, *arguments), env=environment(**settings), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        address = line.split(" at ")[1].split(" ")[0].rstrip("/")
        with httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
            yield Server(address, process, client)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def index(data_dir: Path, *locations: Path) -> str:
    """Index repositories and return the name of the published database, without its ending."""
    settings = load_settings(data_dir=data_dir, model="fast")
    report = pipeline.index([RepositorySpec(str(location)) for location in locations], settings=settings)
    return Path(report.database).stem


def hits(server: Server, query: str, **filters: object) -> list[dict[str, object]]:
    found = server.json("/search", q=query, **filters)
    assert isinstance(found, list)
    return found
