"""Flows by hand on the temporary server of Prefect: one at a time, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 120
WAIT_INSIDE = (
    "from flows.by_hand import server_at_hand\n"
    "with server_at_hand():\n"
    "    print('inside', flush=True)\n"
    "    input()\n"
)


def start(home: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a process that enters `server_at_hand`, says so, and leaves at a line of input."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-c", WAIT_INSIDE],
        env={**variables, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(home), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str], name: str) -> str:
    return str(getattr(process, name).readline())


def server_of(home: Path) -> int:
    return int((home / "repolake.lock").read_text())


def assert_ends(server: int) -> None:
    deadline = time.monotonic() + SECONDS
    while Path(f"/proc/{server}").exists():
        assert time.monotonic() < deadline, f"server {server} lives on"
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_a_flow_waits_for_the_one_before_and_ends_the_server_of_one_that_was_killed(tmp_path: Path):
    one = start(tmp_path)
    assert line(one, "stdout") == "inside\n"
    server = server_of(tmp_path)
    other = start(tmp_path)
    assert "another flow is using Prefect's temporary server; waiting for it" in line(other, "stderr")
    one.kill()
    assert line(other, "stdout") == "inside\n"
    assert_ends(server)
    other.send_signal(signal.SIGTERM)
    other.communicate()
    assert other.returncode == 128 + signal.SIGTERM
    assert_ends(server_of(tmp_path))
    one.communicate()


def test_flows_with_a_server_of_their_own_do_not_wait(tmp_path: Path):
    processes = [start(tmp_path, PREFECT_API_URL="http://127.0.0.1:9/api") for _ in range(2)]
    assert [line(process, "stdout") for process in processes] == ["inside\n"] * 2
    assert [process.communicate("\n")[1] for process in processes] == ["", ""]


def test_a_folder_of_prefect_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    home = tmp_path / "file"
    home.write_text("")
    process = start(home)
    output, errors = process.communicate("\n")
    assert (output, process.returncode) == ("", 2)
    assert errors.splitlines()[-1].startswith(f"repolake: cannot write {home}")


def test_a_nightly_worker_without_a_server_is_refused_since_nothing_would_ever_run(tmp_path: Path):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    result = subprocess.run(
        [sys.executable, "-m", "flows.nightly"],
        env={**variables, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.endswith("run `prefect server start` and set PREFECT_API_URL\n")
