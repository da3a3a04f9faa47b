"""The benchmark of the map, here small."""

import pytest

from research.benchmarks.map import MapFigures, MapRow
from tests.support.command_line import done


@pytest.mark.slow
def test_making_and_frames_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a window; every row with a limit has a verdict."""
    fields = done(capsys, "benchmark", "map", "--images", "400", "--no-window", "--json").fields
    rows = {each["name"]: each for each in fields["rows"]}
    made = rows["map of 400 images made"]
    assert made["limit"] == 180
    assert made["is_kept"]
    assert 0 < made["value"] < 180
    assert fields["are_kept"]


def test_a_missed_limit_is_reported() -> None:
    kept, free, missed = MapRow("a", 1, "s", 2), MapRow("b", 9, "s"), MapRow("c", 17, "ms", 16)
    assert MapFigures(1, (kept, free)).are_kept
    assert not MapFigures(1, (kept, missed)).are_kept
    assert [row["is_kept"] for row in MapFigures(1, (kept, missed)).fields()["rows"]] == [
        True,
        False,
    ]
