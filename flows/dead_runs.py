"""Closes flow runs whose process is gone, such as those of a worker that was killed with its children."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterName, FlowRunFilter
from prefect.client.schemas.objects import State, StateType
from prefect.states import Crashed

from repolake.errors import LakeBusyError
from repolake.lake import Lake


def close_dead_runs(deployments: Sequence[str], data_dir: Path) -> None:
    """Mark the deployments' unfinished runs as Crashed, unless a run holds the data folder.

    Raises LakeWriteError when the data folder cannot be written.
    """
    unfinished = FlowRunFilter.model_validate(
        {"state": {"type": {"any_": [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]}}}
    )
    named = DeploymentFilter(name=DeploymentFilterName(any_=list(deployments)))
    try:
        with Lake(data_dir).lock(), get_client(sync_client=True) as client:
            for run in client.read_flow_runs(flow_run_filter=unfinished, deployment_filter=named):
                state: State[Any] = Crashed(message="Its process ended without a word; the next run goes on.")
                client.set_flow_run_state(run.id, state, force=True)
    except LakeBusyError:
        return
