"""The law of every night: an incremental index equals one from scratch, whatever happened in between."""

from __future__ import annotations

import tempfile
from pathlib import Path

from histories import History, steps
from hypothesis import HealthCheck, Phase, example, given, settings


@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # shrinking a minute's history would take hours
    suppress_health_check=[HealthCheck.too_slow],
)
@example(
    [
        ("add", 1, 1),
        ("index", 0, 0),
        ("branch", 0, 0),
        ("switch", 1, 0),
        ("edit", 0, 5),
        ("index", 0, 0),
        ("gc", 0, 0),
        ("merge", 0, 0),
        ("rename", 1, 2),
        ("index", 0, 0),
        ("branch", 1, 0),
        ("ignore", 1, 0),
    ]
)
@given(steps)
def test_an_incremental_index_equals_one_from_scratch_after_any_history(
    played: list[tuple[str, int, int]],
):
    with tempfile.TemporaryDirectory() as work:
        history = History(Path(work))
        history.play(played)
        assert history.differences() == []
