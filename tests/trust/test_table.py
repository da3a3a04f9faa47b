"""The table of the instruments: counts, sums, and output."""

import sys
from pathlib import Path

import pytest

from tests.trust.__main__ import TABLE_END, TABLE_START, main
from tests.trust.outcome import Fault, Outcome, Trial, outcome, table


def test_rows_sum_up_and_faults_have_columns() -> None:
    """Each kind of fault has a column; the last row is the sum."""
    kills = outcome(
        "kills", [Trial(5, (Fault("lost", "a", 3), Fault("stray", "b")), 2_000_000), Trial(4)]
    )
    copies = Outcome(
        "copies",
        2,
        1,
        (Fault("wrong", "c"), Fault("hang", "d"), Fault("traceback", "e")),
        9_000_000,
    )
    lines = table([kills, copies]).splitlines()
    assert lines[2].replace(" ", "") == "|kills|2|9|3|0|0|0|0|1|2MB|"
    assert lines[4].replace(" ", "") == "|all|4|10|3|1|1|1|0|1|9MB|"
    assert [fault.kind for fault in kills.broken] == ["lost"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the instruments are written for Linux")
def test_the_table_goes_between_its_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text around the table's marks stays, and the command is above the table."""
    page = tmp_path / "trust.md"
    page.write_text(f"# Trust\n\n{TABLE_START}\nold\n{TABLE_END}\n\nafter\n", encoding="utf-8")
    assert main(["--images", "4", "--seed", "2", "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        f"# Trust\n\n{TABLE_START}\n`python -m tests.trust --images 4 --seed 2`\n"
    )
    assert text.endswith(f"{TABLE_END}\n\nafter\n")
    assert "| broken images |" in text
    assert "old" not in text
