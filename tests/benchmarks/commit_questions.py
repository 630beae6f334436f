"""Make labelled questions of a repository's history, for `repolake evaluate`.

    python tests/benchmarks/commit_questions.py REPOSITORY… [--each 60] > questions.jsonl

A question is the subject of a commit that changed one source file; its targets are the one to three functions
that it changed there and that HEAD still has under the same symbol. Some are wrong or vague: compare rankings
with them, quote no absolute figure. Index the repositories under the names of their folders.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from repolake.file_kinds import kind_of
from repolake.languages import language_of
from repolake.model_source import find_model
from repolake.splitter import Chunk, split
from repolake.tokens import TokenCounter

BUDGET = 512
MAX_COMMITS = 8_000
MOST_FILES, MOST_LINES, MOST_TARGETS = 5, 120, 3
MOST_CHARACTERS = 300_000
SUBJECT_WORDS, SUBJECT_CHARACTERS = 4, 120
# Subjects that tell how a commit came about, or changes that mean nothing.
CHORE = re.compile(
    r"\b(merge|bump|revert|version|release|typos?|format|lint|clippy|cleanup|changelog|copyright|license|cs"
    r"|style|refactor|rename|docs?|docblock|comments?|javadoc|wip|warnings?|imports?|spelling"
    r"|apply fixes|update)\b",
    re.IGNORECASE,
)
# `fix(parser)!: `, `[11.x] ` and the number of a pull request.
TRIMMINGS = re.compile(r"^\w+(\([^)]*\))?!?: |^\[[^\]]*\]\s*|\s*\(?#\d+\)?")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class History:
    """The commits of one repository, with the chunks of their files."""

    def __init__(self, repository: Path, counter: TokenCounter) -> None:
        self._repository = repository
        self._counter = counter
        self._chunks_now = lru_cache(maxsize=None)(lambda path: self.chunks("HEAD", path))

    def questions(self) -> Iterator[dict[str, object]]:
        """Yield the rows of a label file, the newest commit first."""
        arguments = ("--no-merges", f"--max-count={MAX_COMMITS}", "--format=%x01%H%x02%s", "--name-status")
        log = self._git("log", *arguments, "HEAD")
        seen: set[str] = set()
        for entry in log.split("\x01")[1:]:
            commit, _, rest = entry.partition("\x02")
            title, *lines = rest.strip("\n").split("\n")
            subject = TRIMMINGS.sub("", title).strip()
            path = changed_source_file([line.split("\t") for line in lines if "\t" in line])
            if path is None or not is_telling(subject) or subject.lower() in seen:
                continue
            symbols = self._changed_symbols(commit, path)
            now = {chunk.symbol for chunk in self._chunks_now(path)}
            if not 1 <= len(symbols) <= MOST_TARGETS or not symbols <= now:
                continue
            seen.add(subject.lower())
            yield {
                "id": commit,
                "query": subject,
                "repository": self._repository.name,
                "language": language_of(path),
                "targets": [{"path": path, "symbol": symbol} for symbol in sorted(symbols)],
            }

    def chunks(self, commit: str, path: str) -> tuple[Chunk, ...]:
        """Return the chunks of a file of a commit, none if it is not there or too long."""
        text = self._git("show", f"{commit}:{path}")
        if not 0 < len(text) <= MOST_CHARACTERS:
            return ()
        return split(text, language_of(path), BUDGET, self._counter).chunks

    def _changed_symbols(self, commit: str, path: str) -> set[str]:
        diff = self._git("diff", "--unified=0", f"{commit}^", commit, "--", path)
        hunks = [(int(start), int(count or 1)) for start, count in HUNK.findall(diff)]
        if sum(count for _, count in hunks) > MOST_LINES:
            return set()
        return {
            chunk.symbol
            for chunk in self.chunks(commit, path)
            if chunk.symbol != "<module>"
            and any(a <= chunk.end_line and chunk.start_line <= a + max(b, 1) - 1 for a, b in hunks)
        }

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._repository), *arguments]
        return subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")


def changed_source_file(changes: list[list[str]]) -> str | None:
    """Return the one source file among the changes of a commit, if it was there before."""
    sources = [
        (status, path)
        for status, *_, path in changes
        if kind_of(path, language_of(path)) == "source" and language_of(path) != "text"
    ]
    if len(sources) != 1 or len(changes) > MOST_FILES or sources[0][0] != "M":
        return None
    return sources[0][1]


def is_telling(subject: str) -> bool:
    """Whether a subject says what a commit is about."""
    return (
        len(subject.split()) >= SUBJECT_WORDS
        and len(subject) <= SUBJECT_CHARACTERS
        and CHORE.search(subject) is None
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--each", type=int, default=60, help="questions of each repository")
    options = parser.parse_args()
    counter = TokenCounter.load(find_model("minilm", None).folder / "tokenizer.json")
    for repository in options.repositories:
        found = History(repository.resolve(), counter).questions()
        for _, question in zip(range(options.each), found, strict=False):
            print(json.dumps(question, ensure_ascii=False))


if __name__ == "__main__":
    main()
