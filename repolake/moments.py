"""Points in time as people write them: a date, a time, or an age such as `7d`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from repolake.errors import QueryError

AGE = re.compile(r"(\d{1,5})\s*([hdwmy])")
HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def read_moment(text: str, now: datetime | None = None) -> datetime:
    """Return the time that a text names, in UTC: ISO 8601 (UTC unless it says otherwise), or an age.

    An age is a number with `h`, `d`, `w`, `m` (30 days) or `y` (365 days): so long before `now`.

    Raises QueryError for any other text.
    """
    plain = text.strip().lower()
    age = AGE.fullmatch(plain)
    try:
        if age is not None:
            return (now or datetime.now(UTC)) - timedelta(hours=int(age[1]) * HOURS[age[2]])
        found = datetime.fromisoformat(plain.upper())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise QueryError(f"{text!r} is no time", "write 2026-11-23, or an age such as 7d or 12h") from error
