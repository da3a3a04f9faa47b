"""Results round-trip; corrupt lines and lines of other cells are refused."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from engine.errors import FormatError
from research.teaching.person import PARTS, ROUNDS, RoundOutcome, drawn_rows
from research.teaching.report import TeachReport
from research.teaching.results import TaughtDraw, TeachCell, TeachResult, read, write

CELL = TeachCell("plants", "leafnet", "1" * 64, "teach-first")


def draw_of(*, share: float) -> TaughtDraw:
    """The same share after each round."""
    return tuple(RoundOutcome(share, share / 2, 5) for _ in ROUNDS)


def test_draws_come_back(tmp_path: Path) -> None:
    """One line each; empty without a file."""
    draws = (draw_of(share=0.25), draw_of(share=0.5))
    assert read(CELL, tmp_path) == ()
    write(CELL, draws, tmp_path)
    assert read(CELL, tmp_path) == draws
    assert CELL.path(tmp_path).read_text(encoding="utf-8").count("\n") == 2


@pytest.mark.parametrize("damage", ["torn", "another cell"])
def test_what_is_no_result_is_refused(tmp_path: Path, damage: str) -> None:
    """The message has the file to delete."""
    write(CELL, [draw_of(share=0.25)], tmp_path)
    path = CELL.path(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text[:-9] if damage == "torn" else text.replace("plants", "animals"), encoding="utf-8"
    )
    with pytest.raises(FormatError, match=r"holds no result.*[Dd]elete it"):
        read(CELL, tmp_path)


def test_paired_differences() -> None:
    """A gain of half a point or more in each draw is significant, and has a star."""
    ours = TeachResult(CELL, tuple(draw_of(share=share) for share in (0.50, 0.61, 0.70)))
    other = TeachResult(
        replace(CELL, method="random"), tuple(draw_of(share=share) for share in (0.4, 0.5, 0.6))
    )
    report = TeachReport("plants", 90, 6, (ours, other))
    text = report.as_text()
    assert " +10.3 ± 1.4 *" in text
    assert " +5.2 ± 0.7 *" in text
    assert "6 classes, 90 images, 3 draws" in text
    fields = report.as_fields()
    assert fields["methods"][1]["figures"]["named"]["draws"][0] == [0.4, 0.5, 0.6]


def test_each_draw_leaves_out_another_tenth() -> None:
    """Ten draws leave out every image once; the next ten in another order."""
    rows = np.arange(5, 205)
    left_out = [np.setdiff1d(rows, drawn_rows(rows, seed)).tolist() for seed in range(2 * PARTS)]
    assert sorted(chain.from_iterable(left_out[:PARTS])) == rows.tolist()
    assert sorted(chain.from_iterable(left_out[PARTS:])) == rows.tolist()
    assert left_out[0] != left_out[PARTS]
