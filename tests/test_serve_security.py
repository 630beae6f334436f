"""Who may ask a server, how much, how slowly: refusals and limits of a real one."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from repositories import make_repository
from served import Server, command, environment, serving

from repolake import pipeline
from repolake.records import RepositorySpec
from repolake.settings import load_settings

TOKEN = "correct-horse-battery-staple"  # noqa: S105
EVERYWHERE = "0.0.0.0"  # noqa: S104
SLOW_SQL = "select count(*) from range(1000000000) as a(i), range(1000000) as b(j) where i % 7 = j % 5"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = tmp_path_factory.mktemp("data")
    shop = make_repository(tmp_path_factory.mktemp("repositories") / "shop")
    settings = load_settings(data_dir=data_dir, model="fast")
    pipeline.index([RepositorySpec(str(shop))], settings=settings)
    return data_dir


@pytest.fixture(scope="module")
def guarded(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    token_file = tmp_path_factory.mktemp("secrets") / "token"
    token_file.write_text(f"{TOKEN}\n")
    with serving(data, token_file=token_file) as running:
        yield running


def refused_start(data: Path, *arguments: str, **settings: object) -> str:
    """Return the sentence with which a server refuses to start."""
    result = subprocess.run(
        command(data, *arguments),
        check=False,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    return result.stderr


def address_of(server: Server) -> tuple[str, int]:
    host, port = server.address.removeprefix("http://").rsplit(":", 1)
    return host, int(port)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN.upper()}",
        f"Basic {TOKEN}",
        TOKEN,
    ],
)
def test_a_wrong_token_is_refused_everywhere(guarded: Server, header: str | None):
    headers = {"authorization": header} if header is not None else {}
    for path in (
        "/search?q=invoice",
        "/chunks/1",
        "/repositories",
        "/inventory",
        "/status",
        "/metrics",
        "/x",
    ):
        answer = guarded.client.get(path, headers=headers)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "invoice" not in answer.text
        assert TOKEN not in answer.text
    assert guarded.client.post("/sql", json={"sql": "select 1"}, headers=headers).status_code == 401


def test_the_token_opens_and_what_holds_no_data_is_open(guarded: Server):
    for value in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
        answer = guarded.client.get("/search?q=invoice", headers={"authorization": value})
        assert answer.status_code == 200
    for path in ("/", "/status.html", "/pages/search.js", "/healthz", "/openapi.json"):
        assert guarded.client.get(path).status_code == 200


def test_a_token_in_the_address_does_not_count(guarded: Server):
    assert guarded.client.get(f"/search?q=invoice&token={TOKEN}").status_code == 401


def test_other_machines_are_served_only_with_a_token_or_on_purpose(data: Path, tmp_path: Path):
    assert "REPOLAKE_SERVE_TOKEN_FILE" in refused_start(data, "--host", EVERYWHERE)
    with serving(data, "--host", EVERYWHERE, token=TOKEN) as running:
        port = address_of(running)[1]
        assert httpx.get(f"http://127.0.0.1:{port}/search?q=a", timeout=60).status_code == 401
    with serving(data, "--host", EVERYWHERE, without_token=True) as running:
        port = address_of(running)[1]
        assert httpx.get(f"http://127.0.0.1:{port}/search?q=a", timeout=60).status_code == 200
    empty = tmp_path / "empty"
    empty.write_text("\n")
    assert "holds no token" in refused_start(data, token_file=empty)
    assert "cannot be read" in refused_start(data, token_file=tmp_path / "missing")
    assert "two tokens" in refused_start(data, token=TOKEN, token_file=empty)
    assert "REPOLAKE_SERVE_TOKEN" in refused_start(data, token="")


def test_a_foreign_name_in_host_is_refused_without_a_token(data: Path):
    with serving(data) as running:
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""):
            answer = running.client.get("/search?q=a", headers={"host": host})
            assert answer.status_code == 400, host
            assert list(answer.json()) == ["error"]
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8321", "[::1]:8321"):
            assert running.client.get("/search?q=a", headers={"host": host}).status_code == 200


def test_a_proxy_on_this_machine_may_pass_any_name_on_if_a_setting_says_so(data: Path):
    with serving(data, without_token=True) as running:
        answer = running.client.get("/search?q=a", headers={"host": "code.example"})
        assert answer.status_code == 200


def test_every_answer_has_the_security_headers(guarded: Server):
    for path in ("/", "/search?q=a", "/nothing", "/healthz", "/pages/page.css"):
        headers = guarded.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_a_body_that_is_too_large_is_refused_before_it_is_read(data: Path):
    with serving(data, sql=True) as running:
        answer = running.client.post("/sql", content=b"x" * 65_537)
        assert answer.status_code == 413
        assert list(answer.json()) == ["error"]
        answer = running.client.post("/sql", content=(b"x" * 1024 for _ in range(100)))
        assert answer.status_code == 413
        with socket.create_connection(address_of(running), timeout=60) as connection:
            connection.sendall(
                b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"
            )
            assert connection.recv(1024).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /search?q=a HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000,
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /sql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
def test_bytes_that_are_no_request_are_refused_and_the_server_lives(guarded: Server, request_bytes: bytes):
    with socket.create_connection(address_of(guarded), timeout=60) as connection:
        connection.sendall(request_bytes)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(4096):
            answer += part
    assert not answer or answer.split(b" ")[1][:1] == b"4"
    assert b"Traceback" not in answer
    assert guarded.client.get("/healthz").status_code == 200


def is_dropped(connection: socket.socket) -> bool:
    """Whether the server ends a connection, by itself."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65_536):
            continue
    return True


def send_for_ever(connection: socket.socket, request_bytes: bytes) -> None:
    """Ask again and again, and never read an answer."""
    while True:
        connection.sendall(request_bytes)
        time.sleep(0.001)


def test_clients_that_send_or_take_too_slowly_are_dropped(data: Path):
    with serving(data, client_seconds=1, sql=True) as running:
        place = address_of(running)
        for beginning in (
            b"",
            b"GET /search?q=a HTTP/1.1\r\nHost: local",
            b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHo",
        ):
            with socket.create_connection(place, timeout=60) as connection:
                connection.sendall(beginning)
                assert is_dropped(connection), beginning
        with socket.create_connection(place, timeout=60) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                send_for_ever(connection, ask)
        assert running.client.get("/search?q=a").status_code == 200


def test_a_query_that_runs_too_long_is_interrupted_and_others_are_answered_meanwhile(data: Path):
    with serving(data, sql=True, timeout_seconds=2) as running:
        answers: list[httpx.Response] = []
        client = httpx.Client(base_url=running.address, timeout=120)
        slow = threading.Thread(
            target=lambda: answers.append(client.post("/sql", json={"sql": SLOW_SQL})), daemon=True
        )
        slow.start()
        assert running.client.get("/search?q=invoice").status_code == 200
        slow.join()
        client.close()
        assert answers[0].status_code == 504
        assert list(answers[0].json()) == ["error"]
        assert running.client.post("/sql", json={"sql": "select 1"}).status_code == 200


def test_more_requests_than_may_wait_are_told_to_come_again(data: Path):
    with serving(data, sql=True, timeout_seconds=3, queue=0) as running:
        statuses: list[int] = []

        def ask() -> None:
            answer = httpx.post(f"{running.address}/sql", json={"sql": SLOW_SQL}, timeout=120)
            statuses.append(answer.status_code)
            if answer.status_code == 503:
                assert int(answer.headers["retry-after"]) >= 1
                assert "busy" in answer.json()["error"]

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [503, 503, 503, 504]


def test_what_kubernetes_injects_for_a_service_of_its_name_is_ignored():
    injected = {
        "REPOLAKE_PORT": "tcp://10.0.0.1:80",
        "REPOLAKE_SERVICE_HOST": "10.0.0.1",
        "REPOLAKE_SERVE_PORT": "tcp://10.0.0.1:80",
        "REPOLAKE_SERVE_PORT_80_TCP_ADDR": "10.0.0.1",
        "REPOLAKE_SERVE_SERVICE_HOST": "10.0.0.1",
        "REPOLAKE_SERVE_SERVICE_PORT_HTTP": "80",
    }
    program = (
        "from repolake.settings import load_settings; s = load_settings(); print(s.serve_port, s.serve_host)"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **injected, "PYTHONPATH": environment()["PYTHONPATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout.split() == ["8321", "127.0.0.1"]


def test_a_token_in_the_environment_is_in_no_manifest(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    settings = load_settings(data_dir=tmp_path / "data", model="fast", serve_token=TOKEN)
    pipeline.index([RepositorySpec(str(shop))], settings=settings)
    for path in (tmp_path / "data" / "lake" / "runs").iterdir():
        assert TOKEN not in path.read_text()
