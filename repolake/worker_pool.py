"""Run chunk workers as separate programs, and survive the death of any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Self

import repolake
from repolake.chunk_worker import FileJob, FileResult, WorkerConfig

BATCH_BYTES = 256 * 1024
BATCH_FILES = 64
BUSY_FACTOR = 10  # how much longer than its processor time a file may take on a busy machine
GRACE_SECONDS = 10.0  # how long after a file's own alarm a worker that says nothing is killed
# A fresh interpreter, not a fork: the parent may hold threads, and a script without a `__main__` guard must
# not be run again. `-P` keeps the current folder, perhaps an untrusted repository, out of the import path.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from repolake.chunk_worker import main; main()"


class _Worker:
    """One worker process and what it is doing."""

    def __init__(self, config: WorkerConfig) -> None:
        ours, theirs = Pipe()
        environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
        root = str(Path(repolake.__file__).parents[1])
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, root, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        self.connection: Connection = ours
        self.jobs: list[FileJob] = []
        self.deadline = 0.0
        self._timeout_seconds = config.timeout_seconds
        ours.send(config)

    def start(self, jobs: list[FileJob]) -> None:
        self.jobs = jobs
        self.deadline = time.monotonic() + len(jobs) * self._timeout_seconds * BUSY_FACTOR + GRACE_SECONDS
        self.connection.send(jobs)

    def end(self) -> int:
        """Stop the process and return its exit status."""
        self.connection.close()
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


class WorkerPool:
    """Cuts files in `count` processes. Use as a context manager: no process outlives it."""

    def __init__(self, config: WorkerConfig, count: int) -> None:
        self._config = config
        self._count = count
        self._workers: list[_Worker] = []

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
        """
        batches = _batches(jobs)
        again: deque[list[FileJob]] = deque()
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
                worker.jobs = []
                yield results
            now = time.monotonic()
            for worker in list(busy.values()):
                if worker.jobs and worker.deadline < now:
                    yield from self._bury(worker, again, is_silent=True)

    def _idle_worker(self) -> _Worker | None:
        for worker in self._workers:
            if not worker.jobs:
                return worker
        if len(self._workers) < self._count:
            self._workers.append(_Worker(self._config))
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
        if len(jobs) == 1:
            yield [FileResult(jobs[0].number, [], error=self._reason(status, is_silent))]
        else:
            again.extend([job] for job in jobs)

    def _reason(self, status: int, is_silent: bool) -> str:
        if is_silent or status == -signal.SIGPROF:
            return f"cutting took longer than {self._config.timeout_seconds:g} seconds of processor time"
        if status < 0:
            return f"the parser crashed (signal {-status}, {signal.Signals(-status).name})"
        return f"the worker process ended with status {status}"


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
