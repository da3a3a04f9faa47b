"""Results of trainings are stored line by line, and shown as a table."""

from pathlib import Path

import pytest

from engine.errors import FormatError
from research.training_gain.report import as_fields, gain_table
from research.training_gain.results import FILE_NAME, TrainingCell, TrainingGain, keep, stored

RIGHT = {"before_everyday": 0.5, "images_per_s_before": 100.0, "told_minutes": 3.5}


def gain(shots: int = 5, seed: int = 0, **figures: float | None) -> TrainingGain:
    """One training."""
    return TrainingGain(
        TrainingCell("grocery", "leafnet", "00ff", shots, seed, {"iterations": 5}), figures
    )


def test_lines_come_back(tmp_path: Path) -> None:
    """In order; an incomplete last line is ignored and overwritten."""
    runs = tmp_path / "runs"
    assert list(stored(runs)) == []
    keep(gain(after_everyday=0.5), runs)
    with (runs / FILE_NAME).open("a", encoding="utf-8") as file:
        file.write('{"cell": {"coll')
    assert list(stored(runs)) == [gain(after_everyday=0.5)]
    keep(gain(1, 2, minutes=None), runs)
    assert list(stored(runs)) == [gain(after_everyday=0.5), gain(1, 2, minutes=None)]


def test_a_line_that_is_no_result_is_refused(tmp_path: Path) -> None:
    """The message has the line number."""
    (tmp_path / FILE_NAME).write_text('{"cell": 1}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="line 1"):
        list(stored(tmp_path))


def test_the_table_has_a_row_for_each_number_of_shots() -> None:
    """Means over draws by hand: 10 and 20 points are 15 ± 1.96 · 7.07 / √2 = 9.8."""
    gains = [
        gain(5, 0, **RIGHT, after_everyday=0.6, minutes=2.0, images_per_s_after=95.0),
        gain(5, 1, **RIGHT, after_everyday=0.7, minutes=4.0, images_per_s_after=97.0),
        gain(1, before_everyday=0.4, after_everyday=0.4),
    ]
    table = gain_table(gains)
    five, one = (dict(zip(table.header, row, strict=False)) for row in table.rows)
    assert five["backbone, shots"] == "leafnet, 5"
    assert (table.rows[0][1], table.rows[0][2]) == ("50.0", "65.0 ±9.8")
    assert (five["minutes told"], five["taken"], five["speed after / before"]) == (
        "3.5",
        "3.0",
        "0.96",
    )
    assert (table.rows[1][1], table.rows[1][2], one["taken"]) == ("40.0", "40.0", "-")
    assert len(as_fields(gains)["trainings"]) == 3  # type: ignore[arg-type]  # plain data
