"""Figure 4: accuracy against the weight of the propagated prototype."""

import csv
from pathlib import Path

import pytest

from engine.errors import InputError, UsageError
from research.reports import drawing
from research.reports.propagation_figure import (
    PropagationCurve,
    PropagationPoint,
    accuracy_against_propagation,
)
from tests.support.figures import has_colour, inked_share, vector_root


def curve(variant: str, setting: str, ways: int, start: float) -> PropagationCurve:
    """A rising line of four points."""
    points = tuple(
        PropagationPoint(weight, start + weight / 7, 0.0123) for weight in (0.0, 0.3, 0.6, 0.9)
    )
    return PropagationCurve(variant, setting, ways, points, data=f"WS-Small-{variant.title()}")


CURVES = (
    curve("pure", "ppn+", 5, 0.4),
    curve("pure", "ppn", 5, 0.3),
    curve("mix", "ppn+", 10, 0.25),
)


@pytest.mark.slow
def test_files_hold_the_curves(tmp_path: Path) -> None:
    """The CSV has the exact numbers; the picture has both colours and is mostly white."""
    pixels, vectors, numbers = accuracy_against_propagation(CURVES, tmp_path / "new")
    with numbers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [
        (row["variant"], row["setting"], int(row["ways"]), int(row["shots"])) for row in rows[::4]
    ] == [
        ("pure", "ppn+", 5, 1),
        ("pure", "ppn", 5, 1),
        ("mix", "ppn+", 10, 1),
    ]
    found = [
        tuple(float(row[name]) for name in ("propagation", "mean", "interval")) for row in rows
    ]
    assert found == [
        (point.propagation, point.mean, point.interval) for line in CURVES for point in line.points
    ]
    assert 0.01 < inked_share(pixels) < 0.5
    assert has_colour(pixels, drawing.VERMILION)
    assert has_colour(pixels, drawing.BLUE)
    assert vector_root(vectors) == "svg"


@pytest.mark.slow
def test_drawn_twice_is_the_same(tmp_path: Path) -> None:
    """The files are deterministic."""
    first = accuracy_against_propagation(CURVES, tmp_path / "first")
    second = accuracy_against_propagation(CURVES, tmp_path / "second")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.slow
def test_other_numbers_give_another_picture(tmp_path: Path) -> None:
    """The picture depends on the numbers."""
    first = accuracy_against_propagation(CURVES[:1], tmp_path / "first")
    second = accuracy_against_propagation([curve("pure", "ppn+", 5, 0.5)], tmp_path / "second")
    assert first[1].read_bytes() != second[1].read_bytes()


@pytest.mark.parametrize(
    "curves",
    [[], [PropagationCurve("pure", "ppn", 5, ())], [curve("pure", "prototypical-net", 5, 0.3)]],
)
def test_nothing_to_draw_is_reported(tmp_path: Path, curves: list[PropagationCurve]) -> None:
    """No curves, no points or an unknown setting leave no files."""
    with pytest.raises(InputError):
        accuracy_against_propagation(curves, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the libraries to install."""
    monkeypatch.setattr(drawing, "LIBRARIES", ("matplotlib", "no_such_library"))
    with pytest.raises(UsageError, match=r"figures need no_such_library.*protoleaf\[experiments\]"):
        accuracy_against_propagation(CURVES, tmp_path)
