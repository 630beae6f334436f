"""Kills runs and gc with SIGKILL at random moments, and checks the published index after each.

python tests/benchmarks/random_kills.py [--kills 200] [--seed 1]

After every 20 kills the work is done to its end and the index is compared with one from scratch.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from kill_player import KillPlayer, preload

KILLS_PER_ROUND = 20


def main() -> None:
    """Play, and print the kills by what was going on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=60)
    arguments = parser.parse_args()
    preload()
    with tempfile.TemporaryDirectory() as work:
        player = KillPlayer(Path(work), random.Random(arguments.seed), arguments.files)  # noqa: S311
        while player.kills.total() < arguments.kills:
            player.play(min(KILLS_PER_ROUND, arguments.kills - player.kills.total()))
            print(f"{player.kills.total()} kills, {player.rounds} comparisons", flush=True)
    for what, count in player.kills.most_common():
        print(f"{count:5} in {what}")
    print(f"{player.kills.total()} kills: the published index was whole after each, and equal at every end")


if __name__ == "__main__":
    main()
