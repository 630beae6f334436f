"""Choose which mined pairs the model is trained on: every project has a say, no project has too much."""

import hashlib
import json
from collections import defaultdict
from pathlib import Path

# The most pairs of one package, by kind. Docstrings are the best queries; comments and names are noisy.
LIMITS = {"docstring": 1_500, "class": 500, "module": 200, "name": 200, "comment": 350}


def select(path: Path) -> list[dict[str, str]]:
    """Return the chosen pairs in file order; where a package has too many, those with the least hashes."""
    hashes: dict[tuple[str, str], list[str]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for line in file:
            pair = json.loads(line)
            hashes[pair["package"], pair["kind"]].append(_hash(line))
    thresholds = {
        key: sorted(found)[LIMITS[key[1]] - 1] if len(found) >= LIMITS[key[1]] else "~"
        for key, found in hashes.items()
    }
    chosen = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            pair = json.loads(line)
            if _hash(line) <= thresholds[pair["package"], pair["kind"]]:
                chosen.append(pair)
    return chosen


def _hash(line: str) -> str:
    return hashlib.md5(line.encode(), usedforsecurity=False).hexdigest()
