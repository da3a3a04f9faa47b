"""Seconds per iteration, and the paper's."""

import pytest

from engine.errors import InputError
from research.reports.time_table import MeasuredTime, time_table

OURS = (
    MeasuredTime("PPN: fast", 0.03, 0.01),
    MeasuredTime("ppn", 0.06, None),
    MeasuredTime("prototypical-net", 0.04, 0.02),
)


def test_ratios_by_hand() -> None:
    """0.06 s are 1.5 times 0.04 s; the paper's 0.074 s are 1.12 times 0.066 s."""
    rows = {row[0]: row[1:] for row in time_table(OURS).rows}
    assert rows["PPN"] == ("0.06", "1.50", "0.074", "1.12", "-", "-", "0.025", "1.09")
    assert rows["PPN: fast"] == ("0.03", "0.75", "-", "-", "0.01", "0.50", "-", "-")
    assert rows["GNN"] == ("-", "-", "0.17", "2.58", "-", "-", "0.011", "0.48")


def test_rows_follow_the_papers_order() -> None:
    """The paper's models first, then ours."""
    names = [row[0] for row in time_table(OURS).rows]
    assert names == ["Prototypical Net", "GNN", "Closer Look", "PPN", "PPN+", "PPN: fast"]


def test_without_the_peer_there_is_no_ratio() -> None:
    """Our ratio needs our Prototypical Net."""
    rows = {row[0]: row[1:] for row in time_table([MeasuredTime("gnn", 0.06, 0.01)]).rows}
    assert rows["GNN"] == ("0.06", "-", "0.17", "2.58", "0.01", "-", "0.011", "0.48")


def test_text_and_markdown_hold_the_same_cells() -> None:
    """Both formats have all cells."""
    table = time_table(OURS)
    text = [line.split()[-8:] for line in table.as_text().splitlines() if line.startswith("PPN ")]
    assert text == [["0.06", "1.50", "0.074", "1.12", "-", "-", "0.025", "1.09"]]
    assert "| PPN | 0.06 | 1.50 | 0.074 | 1.12 | - | - | 0.025 | 1.09 |" in table.as_markdown()


@pytest.mark.parametrize("rows", [(OURS[0], OURS[0]), (MeasuredTime("ppn", 0.0, None),)])
def test_wrong_times_are_refused(rows: tuple[MeasuredTime, ...]) -> None:
    """A duplicate row and a time of zero are refused."""
    with pytest.raises(InputError):
        time_table(rows)
