"""Edits of a large project, here a small one."""

import pytest

from tests.support.command_line import protoleaf


@pytest.mark.slow
def test_edits_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """Some edits change images, renaming changes none; limits are ignored."""
    kinds = ("--only", "merge two classes", "--only", "rename a class")
    outcome = protoleaf(
        capsys, "benchmark", "edit", "--images", "1200", "--rounds", "1", "--json", *kinds
    )
    rows = {row["name"]: row for row in outcome.fields["rows"]}
    assert (
        rows.keys() == outcome.fields["changed"].keys() == {"merge two classes", "rename a class"}
    )
    assert (
        outcome.fields["changed"]["merge two classes"]
        > 0
        == outcome.fields["changed"]["rename a class"]
    )
    assert rows["merge two classes"]["figure"] > rows["rename a class"]["figure"] > 0
