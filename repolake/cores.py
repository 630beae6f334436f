"""How many processor cores this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_core_count(quota_file: Path = CGROUP_QUOTA) -> int:
    """Return the cores that affinity and the container's quota leave to this process, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return allowed
    if quota == "max":
        return allowed
    return max(1, min(allowed, math.ceil(int(quota) / int(period))))
