"""Plays many random histories and compares the incremental index with one from scratch after each.

python tests/benchmarks/random_histories.py [--histories 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from histories import History, steps
from hypothesis import HealthCheck, Phase, given, seed, settings

played: Counter[str] = Counter()


def main() -> None:
    """Play, and print how often each step occurred."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    started = time.monotonic()

    @settings(
        max_examples=arguments.histories,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(arguments.seed)
    @given(steps)
    def law(history_steps: list[tuple[str, int, int]]) -> None:
        with tempfile.TemporaryDirectory() as work:
            history = History(Path(work))
            history.play(history_steps)
            assert history.differences() == []
        played.update(name for name, _, _ in history_steps)
        played["history"] += 1
        if played["history"] % 10 == 0:
            print(f"{played['history']} histories, {time.monotonic() - started:.0f} s", flush=True)

    law()
    print(f"{played['history']} histories, all equal: {dict(played.most_common())}")


if __name__ == "__main__":
    main()
