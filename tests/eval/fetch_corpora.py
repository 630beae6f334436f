"""Bring the pinned corpora of the labelled queries into a folder, one sub-folder each.

    python tests/eval/fetch_corpora.py DIR [CORPUS …]

Source distributions come through pip, which checks the pinned sha256 before it looks inside; the standard
library is copied from the running interpreter. A corpus that is already there is left alone.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

CORPORA_FILE = Path(__file__).with_name("corpora.toml")
# Not the library itself: installed packages, compiled code, and the build's own configuration.
NOT_STDLIB = shutil.ignore_patterns(
    "site-packages", "dist-packages", "__pycache__", "lib-dynload", "config-3*"
)


def read_corpora() -> dict[str, dict[str, Any]]:
    """Return the entries of corpora.toml by corpus name."""
    entries = tomllib.loads(CORPORA_FILE.read_text(encoding="utf-8"))["corpora"]
    return {entry["corpus"]: entry for entry in entries}


def copy_stdlib(entry: dict[str, Any], target: Path) -> None:
    """Copy the library, or the part that the entry includes; raise SystemExit on another Python."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running != entry["python"]:
        raise SystemExit(f"{entry['corpus']} is the library of Python {entry['python']}, this is {running}")
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    if "include" not in entry:
        shutil.copytree(stdlib, target, ignore=NOT_STDLIB)
        return
    target.mkdir()
    for name in entry["include"]:
        if (stdlib / name).is_dir():
            shutil.copytree(stdlib / name, target / name, ignore=NOT_STDLIB)
        else:
            shutil.copy2(stdlib / name, target / name)


def download_sdist(entry: dict[str, Any], folder: Path) -> Path:
    """Download one source distribution into `folder`; raise SystemExit if pip fails or the sha256 differs."""
    package, version, sha256 = entry["package"], entry["version"], entry["sha256"]
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package}=={version} --hash=sha256:{sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--no-binary", package, "--requirement", str(requirements), "--dest", str(folder)]
    if subprocess.run(command, check=False).returncode != 0:
        raise SystemExit(f"pip could not download the source distribution of {package} {version}")
    (archive,) = folder.glob("*.tar.gz")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{archive.name} has the sha256 {found}, corpora.toml says {sha256}")
    return archive


def unpack_sdist(archive: Path, target: Path) -> None:
    """Write the regular files of an archive to `target`, without the archive's top folder.

    Its `.gitignore` files stay out: they speak of a working tree, and what is shipped was tracked. That of
    ujson names `lib/`, which holds half of its code.
    """
    with tarfile.open(archive) as members:
        for member in members:
            parts = PurePosixPath(member.name).parts[1:]
            content = members.extractfile(member) if member.isreg() else None
            if content is None or not parts or ".." in parts or parts[-1] == ".gitignore":
                continue
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


def fetch(entry: dict[str, Any], folder: Path) -> Path:
    """Bring one corpus to `folder`/<corpus> and return that path. It appears whole or not at all."""
    target: Path = folder / entry["corpus"]
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=folder, prefix="_") as work:
        unfinished = Path(work) / "corpus"
        if entry["source"] == "stdlib":
            copy_stdlib(entry, unfinished)
        else:
            unpack_sdist(download_sdist(entry, Path(work)), unfinished)
        unfinished.rename(target)
    return target


def main(arguments: Iterable[str] | None = None) -> None:
    """Fetch the named corpora, all by default, and print where each one is."""
    corpora = read_corpora()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=", ".join(corpora))
    options = parser.parse_args(None if arguments is None else list(arguments))
    if unknown := set(options.corpora) - set(corpora):
        parser.error(f"no corpus {', '.join(sorted(unknown))}; corpora.toml has {', '.join(corpora)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.corpora or corpora:
        print(fetch(corpora[name], options.folder))


if __name__ == "__main__":
    main()
