"""Sorting by language compared with natural order, at small size."""

import pytest

from app.language import language_names
from research.benchmarks.sorting import SortingFigure
from tests.support.command_line import protoleaf


def test_each_language_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = protoleaf(capsys, "benchmark", "sorting", "--names", "300", "--rounds", "1", "--json")
    rows = answer.fields["rows"]
    assert answer.status == int(
        any(each["limit_s"] and each["seconds"] > each["limit_s"] for each in rows)
    )
    assert len({each["names"] for each in rows}) == 3
    for names in {each["names"] for each in rows}:
        seconds = {each["order"]: each["seconds"] for each in rows if each["names"] == names}
        limits = {each["order"]: each["limit_s"] for each in rows if each["names"] == names}
        assert {limits[language] for language in language_names()} == {
            seconds["natural, as on the command line"]
        }
        assert min(seconds.values()) > 0


def test_a_missed_limit_shows() -> None:
    assert not SortingFigure("names", "sv", 2.0, 1.9).is_kept
    assert SortingFigure("names", "sv", 2.0, 2.0).is_kept
    assert SortingFigure("names", "plain", 2.0, None).is_kept
