"""A served index that is published again: no request is dropped, the old database is closed."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from repositories import commit, make_repository
from served import hits, index, serving

from repolake import database_files


@pytest.fixture
def two_indexes(tmp_path: Path) -> tuple[Path, str, str]:
    """A data folder with two databases: the older one lacks the function `refund`."""
    folder = make_repository(tmp_path / "shop")
    old = index(tmp_path / "data", folder)
    commit(folder, {"shop/refund.py": "def refund(order):\n    return -order.total\n"})
    return tmp_path / "data", old, index(tmp_path / "data", folder)


def open_databases(process_id: int) -> set[str]:
    """Return the names of the database files that a process holds open."""
    names = set()
    for link in Path(f"/proc/{process_id}/fd").iterdir():
        try:
            names.add(link.readlink().name)
        except FileNotFoundError:
            continue
    return {name.removesuffix(".duckdb") for name in names if name.startswith("index-")}


@pytest.mark.skipif(sys.platform != "linux", reason="open files are read from /proc")
def test_publishing_under_load_drops_no_request_and_closes_the_old_database(
    two_indexes: tuple[Path, str, str],
):
    data_dir, old, new = two_indexes
    is_over = threading.Event()
    answers: list[tuple[int, str, bool]] = []

    def ask(address: str) -> None:
        with httpx.Client(base_url=address, timeout=60) as client:
            while not is_over.is_set():
                answer = client.get("/search", params={"q": "refund", "mode": "text"})
                found = any(hit["symbol"] == "refund" for hit in answer.json())
                answers.append((answer.status_code, answer.headers["repolake-index"], found))

    with serving(data_dir) as running:
        threads = [threading.Thread(target=ask, args=(running.address,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            for name in (old, new):
                database_files.switch(data_dir / f"{name}.duckdb")
                running.wait_for(name)
        is_over.set()
        for thread in threads:
            thread.join()
        assert {status for status, _, _ in answers} == {200}
        assert {(name, found) for _, name, found in answers} == {(old, False), (new, True)}
        deadline = time.monotonic() + 60
        while open_databases(running.process.pid) != {new}:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_broken_new_database_leaves_the_old_one_answering(two_indexes: tuple[Path, str, str]):
    data_dir, _, new = two_indexes
    with serving(data_dir) as running:
        running.wait_for(new)
        broken = data_dir / "index-99991231T235959-broken.duckdb"
        broken.write_bytes(b"no database")
        database_files.switch(broken)
        deadline = time.monotonic() + 60
        while running.client.get("/healthz").json()["problem"] is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert running.client.get("/healthz").json()["status"] == "ok"
        assert hits(running, "refund")[0]["symbol"] == "refund"
        database_files.switch(data_dir / f"{new}.duckdb")
