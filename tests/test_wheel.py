"""The built wheel works from anywhere: it holds the SQL files and needs no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from repositories import make_repository

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_the_package_alone_and_runs_from_elsewhere(tmp_path: Path):
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(tmp_path / "dist"),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
    )
    [wheel] = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {name.split("/")[0].split("-")[0] for name in names} == {"repolake"}
    shipped = {name for name in names if name.startswith("repolake/sql/")}
    sql_files = {f"repolake/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "sql").rglob("*.sql")}
    assert shipped == sql_files
    shop = make_repository(tmp_path / "shop")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    for arguments in (["index", str(shop)], ["search", "--mode", "text", "send_invoice"]):
        result = subprocess.run(
            [sys.executable, "-m", "repolake", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "shop/mail.py" in result.stdout
