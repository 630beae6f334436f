"""The containers of docker-compose.yml as processes of this machine: the same commands and environments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import yaml

ROOT = Path(__file__).parent.parent
SERVICES = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  # a name in the file, replaced before anything listens
PREFECT_HOME = "/tmp/prefect"  # noqa: S108  # the same
VARIABLE = re.compile(r"\$\{\w+:-(.*?)\}")  # ${NAME:-default}


def environment(service: str, replaced: Mapping[str, str]) -> dict[str, str]:
    """Return the container's environment; what stands for a host, port or mount is replaced."""
    values = SERVICES[service].get("environment", {})
    return {name: _replaced(VARIABLE.sub(r"\1", value), replaced) for name, value in values.items()}


def command(service: str, replaced: Mapping[str, str]) -> list[str]:
    """Return the container's command."""
    return _arguments(SERVICES[service]["command"], replaced)


def start(
    service: str, replaced: Mapping[str, str], log: IO[str], *, without: str = "-", **extra: str
) -> subprocess.Popen[bytes]:
    """Run the container's command in a process group of its own.

    Variables that begin with `without` are left out; `extra` are more variables.
    """
    variables = environment(service, replaced)
    return subprocess.Popen(
        command(service, replaced),
        cwd=ROOT,
        env=_base() | {name: variables[name] for name in variables if not name.startswith(without)} | extra,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def is_healthy(service: str, replaced: Mapping[str, str]) -> bool:
    """Run the container's own health check."""
    kind, *check = _arguments(SERVICES[service]["healthcheck"]["test"], replaced)
    assert kind == "CMD"
    return subprocess.run(check, env=_base(), check=False, capture_output=True, timeout=60).returncode == 0


def _arguments(words: list[str], replaced: Mapping[str, str]) -> list[str]:
    program, *rest = [_replaced(word.replace("$$", "$"), replaced) for word in words]
    programs = {"python": [sys.executable], "repolake": [sys.executable, "-m", "repolake"]}
    return [*programs.get(program, [program]), *rest]


def _base() -> dict[str, str]:
    """Return what an image has: a PATH, and nothing of this machine's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "REPOLAKE_", "POSTGRES_"))
    }
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": str(ROOT),
    }


def _replaced(text: str, replaced: Mapping[str, str]) -> str:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text
