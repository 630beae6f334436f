from itertools import pairwise

import pytest
from chunk_samples import counter, cut

from repolake.records import Chunker


def windows(text: str, budget: int) -> list[tuple[int, int, str]]:
    found = cut(text, "python", budget, Chunker.FIXED)
    assert {chunk.symbol for chunk, _ in found} == {"<module>"}
    return [(chunk.start_line, chunk.end_line, own) for chunk, own in found]


def test_windows_are_full_overlap_and_cover_every_line() -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(2_000))
    found = windows(text, 256)
    overlaps = []
    for (_, end, _), (start, _, own) in pairwise(found):
        assert start <= end + 1
        shared = "\n".join(own.split("\n")[: end + 1 - start])
        overlaps.append(counter().count(shared))
    assert (found[0][0], found[-1][1]) == (1, 2_000)
    assert all(48 < overlap <= 64 for overlap in overlaps)
    assert all(counter().count(own) > 180 for _, _, own in found[:-1])


@pytest.mark.parametrize("budget", [64, 96, 512])
def test_windows_over_lines_longer_than_a_window_come_to_an_end(budget: int) -> None:
    text = "\n".join("word " * 400 for _ in range(20))
    found = windows(text, budget)
    assert sum(own.count("word") for _, _, own in found) >= 8_000
    assert len(found) < 8_000 / ((budget - 36) * 0.6)
