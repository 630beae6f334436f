"""Flow `nightly`: brings the index up to date on a cron schedule, for the repositories listed in a file.

`python -m flows.nightly` registers its deployment and serves it until stopped, one run at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.schedules import Cron

from flows.index import index_repositories
from repolake.settings import load_settings


@flow(name="nightly", persist_result=False)
def nightly(config: Path) -> State[Any]:
    """Make the lake equal to the list of repositories in `config`, and publish the index.

    Ends like `index_repositories`: Completed, Partial or Failed.
    """
    return index_repositories(config=config, return_state=True)


def serve() -> None:
    """Register the deployment `nightly/nightly` and run it as the settings say, until stopped."""
    settings = load_settings()
    nightly.serve(
        name="nightly",
        description="Indexes every repository of the list.",
        parameters={"config": str(settings.repositories_file.resolve())},
        schedule=Cron(settings.nightly_cron, timezone=settings.nightly_timezone),
        limit=1,
    )


if __name__ == "__main__":
    serve()
