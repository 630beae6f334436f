"""What Prometheus reads of a server: requests, latencies, the age and size of the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
OTHER = "other"  # the label of every path that the server does not know
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class IndexFigures:
    """What the lake and the open database say now; `indexed_at` by repository, UTC."""

    now: datetime
    indexed_at: dict[str, datetime]
    chunk_counts: dict[str, int]
    switch_count: int
    failure_count: int
    waiting_count: int


class Metrics:
    """The counters of one server; `measure` wraps its application."""

    def __init__(self, read_figures: Callable[[], IndexFigures]) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_IndexCollector(read_figures))
        labels = ("path", "method")
        self._requests = Counter(
            "repolake_http_requests", "Requests answered.", (*labels, "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "repolake_http_request_seconds",
            "Seconds from a request's headers to the end of its answer.",
            labels,
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._in_progress = Gauge(
            "repolake_http_requests_in_progress", "Requests being answered.", registry=self.registry
        )

    def measure(self, app: ASGIApp) -> ASGIApp:
        """Return the application with its requests counted and timed."""

        async def measured(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            status = 0

            async def noting_send(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                await send(message)

            started = time.perf_counter()
            with self._in_progress.track_inprogress():
                try:
                    await app(scope, receive, noting_send)
                finally:
                    path = getattr(scope.get("route"), "path", OTHER)
                    method = scope["method"] if scope["method"] in METHODS else OTHER
                    self._requests.labels(path, method, str(status)).inc()
                    self._seconds.labels(path, method).observe(time.perf_counter() - started)

        return measured

    def text(self) -> bytes:
        """Return all figures in Prometheus's text format."""
        return generate_latest(self.registry)


class _IndexCollector(Collector):
    """Figures that are read when they are asked for."""

    def __init__(self, read_figures: Callable[[], IndexFigures]) -> None:
        self._read_figures = read_figures

    def describe(self) -> list[Metric]:
        """Return nothing: the names are found at the first reading."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of now."""
        figures = self._read_figures()
        age = GaugeMetricFamily(
            "repolake_repository_age_seconds",
            "Seconds since a repository was last read with success.",
            labels=["repository"],
        )
        for repository, indexed_at in figures.indexed_at.items():
            age.add_metric([repository], (figures.now - indexed_at).total_seconds())
        yield age
        ages = [(figures.now - indexed_at).total_seconds() for indexed_at in figures.indexed_at.values()]
        if ages:
            yield GaugeMetricFamily(
                "repolake_index_age_seconds", "Age of the repository read longest ago.", max(ages)
            )
        chunks = GaugeMetricFamily(
            "repolake_chunks", "Chunks that searches see, by repository, all its refs.", labels=["repository"]
        )
        for repository, count in figures.chunk_counts.items():
            chunks.add_metric([repository], count)
        yield chunks
        yield GaugeMetricFamily(
            "repolake_requests_waiting", "Requests that wait for their turn.", figures.waiting_count
        )
        yield GaugeMetricFamily(
            "repolake_index_switches", "Published databases opened since the start.", figures.switch_count
        )
        yield GaugeMetricFamily(
            "repolake_index_open_failures",
            "Attempts to open a published database that failed.",
            figures.failure_count,
        )
