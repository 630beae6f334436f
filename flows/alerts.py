"""Alerts of the nightly flow: Prefect automations that call a URL on a bad or missing night."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from prefect.automations import Automation, AutomationCore, CallWebhook, EventTrigger, Posture
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import get_client

BAD_STATES = ("Failed", "Crashed", "TimedOut", "Partial", "Late")
GOOD_STATES = ("Completed", "Partial")
NIGHTLY_RUNS = {"prefect.resource.role": "flow", "prefect.resource.name": "nightly"}
BLOCK = "repolake-alert"
# `text` is what Slack, Mattermost and Teams show.
BAD_NIGHT = """{"text": {{ [
    "repolake:", flow_run.name, "is", flow_run.state.name, flow_run.state.message or "",
    (flow_run | ui_url) or ""
] | join(" ") | tojson }}}"""
MISSING_NIGHT = '{"text": "repolake: no night was completed in the last HOURS hours; is the worker running?"}'


def ensure_alerts(url: str, hours: float) -> None:
    """Make the server POST JSON to `url` when a night ends badly, starts late, or none ends in `hours`.

    The automations `repolake: bad night` and `repolake: missing night` stay as they are if they do so
    already: a worker that restarts again and again must not begin the count of hours anew.
    """
    block_id = Webhook(method="POST", url=url).save(BLOCK, overwrite=True)
    wanted = (
        Automation(
            name="repolake: bad night",
            trigger=EventTrigger(
                expect={f"prefect.flow-run.{state}" for state in BAD_STATES},
                match_related=NIGHTLY_RUNS,
                posture=Posture.Reactive,
                threshold=1,
            ),
            actions=[CallWebhook(block_document_id=block_id, payload=BAD_NIGHT)],
        ),
        Automation(
            name="repolake: missing night",
            trigger=EventTrigger(
                expect={f"prefect.flow-run.{state}" for state in GOOD_STATES},
                match_related=NIGHTLY_RUNS,
                posture=Posture.Proactive,
                threshold=1,
                within=timedelta(hours=hours),
            ),
            actions=[
                CallWebhook(block_document_id=block_id, payload=MISSING_NIGHT.replace("HOURS", f"{hours:g}"))
            ],
        ),
    )
    with get_client(sync_client=True) as client:
        for automation in wanted:
            known = client.read_automations_by_name(automation.name)
            if [_effect(old) for old in known] == [_effect(automation)]:
                continue
            for old in known:
                client.delete_automation(old.id)
            automation.create()


def _effect(automation: AutomationCore) -> dict[str, Any]:
    return automation.model_dump(include={"trigger": True, "actions": True, "enabled": True})
