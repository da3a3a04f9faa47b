"""Edits of a large project, here a small one."""

from operator import itemgetter

import pytest

from research.benchmarks.edits import EditFigures, EditsFigures
from tests.support.command_line import protoleaf


def test_edits_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """What must move images moves some, a new name moves none; on a busy machine a limit may be missed."""
    kinds = ("--only", "merge two classes", "--only", "rename a class")
    outcome = protoleaf(capsys, "benchmark", "edit", "--images", "1200", "--rounds", "1", "--json", *kinds)
    merged, renamed = sorted(outcome.fields["edits"], key=itemgetter("name"))
    assert (merged["name"], renamed["name"], renamed["changed"]) == ("merge two classes", "rename a class", 0)
    assert merged["changed"] > 0
    assert merged["predictions_s"] > renamed["predictions_s"] > 0


def test_a_missed_limit_is_reported() -> None:
    """The slowest edit counts, with the search for the images that it changed."""
    quick, slow = EditFigures("quick", 0.1, 0.1, 0.0, 1), EditFigures("slow", 0.9, 0.9, 0.2, 1)
    assert EditsFigures(1, (quick,)).are_kept
    assert not EditsFigures(1, (quick, slow)).are_kept
