"""How many chunks and tokens files will give: a sample of them is really cut, as the stage chunk cuts."""

from __future__ import annotations

from dataclasses import dataclass

from repolake.chunk_worker import CHUNK_COLUMNS, FileJob, WorkerConfig
from repolake.worker_pool import WorkerPool

SAMPLE_FILES = 400
_LEAST_FILES = 5  # a language with fewer in the sample is taken to be like all others
_TOKENS = CHUNK_COLUMNS.index("token_count")


@dataclass
class _Sum:
    files: int = 0
    bytes: int = 0
    chunks: int = 0
    tokens: int = 0

    def add(self, size_bytes: int, chunks: int, tokens: int) -> None:
        self.files += 1
        self.bytes += size_bytes
        self.chunks += chunks
        self.tokens += tokens


class ChunkEstimate:
    """Estimates chunks and tokens of files by their size and language, after a sample of them was cut.

    A ratio estimate: what the sampled files of a language gave for each of their bytes. All of at most
    `SAMPLE_FILES` files are in the sample, of more files those that their blob ids choose: the same ones
    each time.
    """

    def __init__(self, file_count: int) -> None:
        self._chosen_below = SAMPLE_FILES / max(file_count, 1)
        self._jobs: list[FileJob] = []
        self._all = _Sum()
        self._languages: dict[str, _Sum] = {}

    def offer(self, path: str, blob: str, language: str, data: bytes) -> None:
        """Take a file into the sample, if it is chosen."""
        if int(blob[:8], 16) < self._chosen_below * 2**32:
            self._jobs.append(FileJob(len(self._jobs), path, language, data))

    def cut(self, config: WorkerConfig, worker_count: int) -> None:
        """Cut the sample in worker processes; files that cannot be cut count for nothing."""
        if not self._jobs:
            return
        with WorkerPool(config, min(worker_count, 1 + len(self._jobs) // 100)) as pool:
            for results in pool.results(self._jobs):
                for result in results:
                    if result.error is None:
                        job = self._jobs[result.number]
                        counts = result.columns[_TOKENS] if result.columns else ()
                        tokens = sum(int(str(count)) for count in counts)
                        for found in (self._all, self._languages.setdefault(job.language, _Sum())):
                            found.add(len(job.data), result.chunk_count, tokens)

    def of(self, size_bytes: int, language: str) -> tuple[float, float]:
        """Return the chunks and the tokens of one file, in fractions; tokens are those that are embedded."""
        found = self._languages.get(language, self._all)
        if found.files < _LEAST_FILES and self._chosen_below < 1:
            found = self._all
        share = size_bytes / found.bytes if found.bytes else 0.0
        return found.chunks * share, found.tokens * share
