"""Fetch the pinned packages that the fast model learns from, and hold each to its checksum and licence.

`packages.tsv` has one row a package: form (wheel, sdist or npm), name, version, licence as declared, sha256
of the archive. Only permissive licences are accepted; a package that declares none is refused.
"""

import csv
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("packages.tsv")
FIELDS = ("form", "name", "version", "licence", "sha256")
PYTHON_VERSION = "3.13"  # the interpreter that wheels are chosen for; nothing is installed
MAX_ARCHIVE_BYTES = 80 * 2**20
MAX_FILE_BYTES = 400_000  # larger source files are bundles or tables
DOWNLOAD_THREADS = 4


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# SPDX identifiers, lower case. Copyleft and file-level copyleft (MPL) are left out on purpose.
PERMISSIVE = _words(
    "mit mit-0 mit-cmu bsd-2-clause bsd-3-clause 0bsd apache-2.0 isc zlib unlicense cc0-1.0 "
    "psf-2.0 python-2.0 python-2.0.1 hpnd bsl-1.0 blueoak-1.0.0 ncsa curl bsd-3-clause-open-mpi"
)
# What packages wrote before SPDX expressions were usual, as regular expressions over the declared words.
OLD_NAMES = (
    (r"\(?(the )?(mit|expat)( license)?( \(mit\))?\)?", "mit"),
    (
        r"(the )?(apache|asl)( software)?( license)?,?( version)?[ -]*v?2(\.0)?( license)?( \(.*\))?",
        "apache-2.0",
    ),
    (r"(apache( software)? license( \(apache 2\.0\))?|apache)", "apache-2.0"),
    (
        r"(new |modified |revised |the )?(3-clause )?bsd( license)?|bsd[ -]3([ -]clause)?( license)?",
        "bsd-3-clause",
    ),
    (r"bsd[ -]2([ -]clause)?( license)?|simplified bsd", "bsd-2-clause"),
    (r"isc( license)?( \(iscl\))?", "isc"),
    (r"python software foundation license|psfl?|psf-2.0", "psf-2.0"),
    (r"unlicense|the unlicense( \(unlicense\))?|public domain", "unlicense"),
    (r"hpnd|historical permission notice and disclaimer( \(hpnd\))?", "hpnd"),
)
CLASSIFIER = "License :: OSI Approved :: "


class Package(NamedTuple):
    """One row of `packages.tsv`."""

    form: str
    name: str
    version: str
    licence: str = ""
    sha256: str = ""

    @property
    def key(self) -> str:
        """A file-system name that is unique in the table."""
        return f"{self.form}-{self.name.replace('/', '+')}-{self.version}"


def read_table(path: Path = TABLE) -> list[Package]:
    """Return the rows of the table of packages, in the order in which they are mined."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Package(*row) for row in csv.reader(file, delimiter="\t") if row and row[0] != "form"]


def is_permissive(licence: str) -> bool:
    """Say whether an SPDX-like expression leaves the choice of licences on the list only."""
    words = licence.lower().strip()
    if _spdx(words) in PERMISSIVE:
        return True
    words = re.sub(r"[()]", " ", words)
    choices = re.split(r"\s+or\s+|\s*/\s*", words)
    if re.search(
        r"\s+and\s+|[,;]", words
    ):  # what belongs together is not worked out: every licence named must do
        return all(
            _spdx(part) in PERMISSIVE for choice in choices for part in re.split(r"\s+and\s+|[,;]", choice)
        )
    return any(_spdx(choice) in PERMISSIVE for choice in choices)


def _spdx(words: str) -> str:
    words = words.strip()
    if words in PERMISSIVE:
        return words
    for pattern, identifier in OLD_NAMES:
        if re.fullmatch(pattern, words):
            return identifier
    return words


def archive_path(package: Package, cache: Path) -> Path:
    """Return the archive of a package below `cache`, fetched if it is not there yet."""
    folder = cache / package.key
    found = [path for path in folder.glob("*") if path.is_file()] if folder.is_dir() else []
    if found:
        return found[0]
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        if package.form == "npm":
            command = [
                "npm",
                "pack",
                f"{package.name}@{package.version}",
                "--silent",
                "--pack-destination",
                scratch,
            ]
        else:
            only = "--no-binary" if package.form == "sdist" else "--only-binary"
            command = [
                "unearth",
                f"{package.name}=={package.version}",
                only,
                "--py",
                PYTHON_VERSION,
                "-d",
                scratch,
            ]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        path = next(path for path in Path(scratch).iterdir() if path.is_file())
        folder.mkdir(exist_ok=True)
        return path.rename(folder / path.name)


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the regular files of an archive that are small enough to be source."""
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as file:
            for info in sorted(file.infolist(), key=lambda info: info.filename):
                if not info.is_dir() and info.file_size <= MAX_FILE_BYTES:
                    yield info.filename, file.read(info)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isreg() and member.size <= MAX_FILE_BYTES:
                content = tar.extractfile(member)
                if content is not None:
                    yield member.name, content.read()


def declared_licence(archive: Path) -> str:
    """Return the licence that an archive's own metadata declares, or an empty string."""
    for path, content in members(archive):
        depth = path.count("/")
        if path.endswith(".dist-info/METADATA") or (path.endswith("/PKG-INFO") and depth == 1):
            fields = HeaderParser().parsestr(content.decode("utf-8", "replace"))
            classifiers = [
                value.removeprefix(CLASSIFIER)
                for value in fields.get_all("Classifier", [])
                if value.startswith(CLASSIFIER)
            ]
            written = fields.get("License-Expression") or ""
            short = (fields.get("License") or "").strip()
            if not written and 0 < len(short) < 60 and short.lower() not in {"unknown", "dual license"}:
                written = short
            return " ".join((written or " AND ".join(classifiers)).split())
        if path == "package/package.json" or (depth == 1 and path.endswith("/package.json")):
            value = json.loads(content).get("license", "")
            return value if isinstance(value, str) else str(value.get("type", ""))
    return ""


def sha256(path: Path) -> str:
    """Return the hexadecimal sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(packages: list[Package], cache: Path) -> dict[Package, Path]:
    """Fetch all packages and return their archives; raise if a checksum or licence is wrong."""
    cache.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(DOWNLOAD_THREADS) as pool:
        archives = dict(
            zip(packages, pool.map(lambda package: archive_path(package, cache), packages), strict=True)
        )
    for package, archive in archives.items():
        if not is_permissive(package.licence):
            raise ValueError(f"{package.name}: licence {package.licence!r} is not on the permissive list")
        if sha256(archive) != package.sha256:
            raise ValueError(f"{package.name} {package.version}: the archive is not the one in packages.tsv")
    return archives
