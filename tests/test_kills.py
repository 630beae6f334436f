"""SIGKILL at random moments; many more of them in tests/benchmarks/random_kills.py."""

from __future__ import annotations

import random
from pathlib import Path

from kill_player import KillPlayer, preload


def test_after_kills_the_published_index_is_whole_and_the_final_state_equal(tmp_path: Path):
    preload()
    player = KillPlayer(tmp_path, random.Random(8))  # noqa: S311  # no secret
    player.play(6)
    assert player.kills.total() >= 6
