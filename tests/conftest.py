"""What several test modules share: one Prefect server for the whole session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prefect_server import PrefectServer, prefect_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    with prefect_server(tmp_path_factory.mktemp("prefect")) as started:
        yield started
