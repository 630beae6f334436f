"""Run chunk workers as separate programs, and survive the death of any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Self

import repolake
from repolake.chunk_worker import BUSY_FACTOR, READY, FileJob, FileResult, WorkerConfig, failed
from repolake.errors import WorkerStartError

BATCH_BYTES = 256 * 1024
BATCH_FILES = 64
START_SECONDS = 120.0  # how long a worker may take until it is ready
MOST_FAILED_STARTS = 3  # in a row, with no other worker at work
GRACE_SECONDS = 10.0  # how long after a file's own alarm a worker that says nothing is killed
# A worker has a core of its own; idle threads of libraries would cost it memory and time to start.
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# A fresh interpreter, not a fork: the parent may hold threads, and a script without a `__main__` guard must
# not be run again. `-P` keeps the current folder, perhaps an untrusted repository, out of the import path.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from repolake.chunk_worker import main; main()"


class _Worker:
    """One worker process and what it is doing."""

    def __init__(self, config: WorkerConfig) -> None:
        ours, theirs = Pipe()
        environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", **ONE_THREAD}
        root = str(Path(repolake.__file__).parents[1])
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, root, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._messages,
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        self.connection: Connection = ours
        self.is_ready = False
        self.last_words = ""  # the last line that it wrote to its standard error, once it has ended
        self.jobs: list[FileJob] = []
        self.deadline = 0.0
        self._timeout_seconds = config.timeout_seconds
        try:
            ours.send(config)
        except (BrokenPipeError, ConnectionResetError):
            return  # dead already: its first jobs will find out

    def start(self, jobs: list[FileJob]) -> None:
        self.jobs = jobs
        self.set_deadline()
        self.connection.send(jobs)

    def set_deadline(self) -> None:
        """Give a worker time to start, then time for the files that it has."""
        seconds = START_SECONDS
        if self.is_ready:
            seconds = len(self.jobs) * self._timeout_seconds * BUSY_FACTOR + GRACE_SECONDS
        self.deadline = time.monotonic() + seconds

    def end(self) -> int:
        """Stop the process and return its exit status."""
        self.connection.close()
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        self._messages.seek(0)
        lines = self._messages.read().decode("utf-8", "replace").split("\n")
        self.last_words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self._messages.close()
        return status


class WorkerPool:
    """Cuts files in `count` processes. Use as a context manager: no process outlives it."""

    def __init__(self, config: WorkerConfig, count: int) -> None:
        self._config = config
        self._count = count
        self._workers: list[_Worker] = []
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def results(self, jobs: Iterable[FileJob]) -> Iterator[list[FileResult]]:
        """Yield the results of all jobs, in the order in which they come.

        A worker that dies or hangs costs the file that it was cutting; the rest of its batch is done again,
        file by file.

        Raises WorkerStartError when workers die or hang before they are ready, and none works.
        """
        batches = _batches(jobs)
        again: deque[list[FileJob]] = deque()
        finished: list[list[FileResult]] = []
        exhausted = False
        while True:
            while not exhausted or again:
                worker = self._idle_worker()
                if worker is None:
                    break
                batch = again.popleft() if again else next(batches, None)
                if batch is None:
                    exhausted = True
                    break
                try:
                    worker.start(batch)
                except (BrokenPipeError, ConnectionResetError):
                    yield from self._bury(worker, again)
            yield from finished  # now that the workers have something to do meanwhile
            finished = []
            busy = {worker.connection: worker for worker in self._workers if worker.jobs}
            if not busy:
                return
            soonest = min(worker.deadline for worker in busy.values()) - time.monotonic()
            for connection in wait(list(busy), timeout=max(soonest, 0.0)):
                worker = busy[connection]  # type: ignore[index]
                try:
                    results = worker.connection.recv()
                except (EOFError, ConnectionResetError):
                    yield from self._bury(worker, again)
                    continue
                if results == READY:
                    worker.is_ready = True
                    worker.set_deadline()
                    self._failed_starts = 0
                    continue
                worker.jobs = []
                finished.append(results)
            now = time.monotonic()
            for worker in list(busy.values()):
                if worker.jobs and worker.deadline < now:
                    yield from self._bury(worker, again, is_silent=True)

    def _idle_worker(self) -> _Worker | None:
        for worker in self._workers:
            if not worker.jobs:
                return worker
        if len(self._workers) < self._count:
            try:
                self._workers.append(_Worker(self._config))
            except OSError as error:  # no memory or no process left
                if not self._workers:
                    raise WorkerStartError(sys.executable, str(error)) from error
                self._count = len(self._workers)
                return None
            return self._workers[-1]
        return None

    def _bury(
        self, worker: _Worker, again: deque[list[FileJob]], *, is_silent: bool = False
    ) -> Iterator[list[FileResult]]:
        jobs = worker.jobs
        self._workers.remove(worker)
        if not is_silent:
            # The connection closes a moment before the exit status is known.
            try:
                worker.process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                is_silent = True
        status = worker.end()
        if not worker.is_ready:
            self._failed_starts += 1
            if any(other.is_ready for other in self._workers):
                self._count -= 1  # the others can do its work
            elif self._failed_starts == MOST_FAILED_STARTS:
                reason = "it says nothing" if is_silent else worker.last_words or f"exit status {status}"
                raise WorkerStartError(sys.executable, reason)
            again.append(jobs)
        elif len(jobs) == 1:
            yield [failed(jobs[0].number, self._reason(status, is_silent, worker.last_words))]
        else:
            again.extend([job] for job in jobs)

    def _reason(self, status: int, is_silent: bool, last_words: str) -> str:
        if is_silent or -status in {signal.SIGPROF, signal.SIGALRM}:
            return f"cutting took longer than {self._config.timeout_seconds:g} seconds of processor time"
        most = f"{self._config.memory_bytes // 1024**2} MiB"
        if status < 0:
            name = signal.Signals(-status).name
            return f"the parser crashed (signal {-status}, {name}), or more than {most} of memory were needed"
        if last_words.partition(":")[0].endswith("MemoryError"):  # numpy has one of its own
            return f"cutting took more than {most} of memory"
        return f"the worker process ended with status {status}: {last_words or 'it said nothing'}"


def _batches(jobs: Iterable[FileJob]) -> Iterator[list[FileJob]]:
    batch: list[FileJob] = []
    size = 0
    for job in jobs:
        if batch and (size + len(job.data) > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(job)
        size += len(job.data)
    if batch:
        yield batch
