"""Data of Figures 1 and 4, from trained cells."""

import csv
from pathlib import Path

import pytest

from engine.collection.training.settings import Chosen
from engine.errors import InputError
from engine.events import Progress
from research.cells import Cell, load_cell, test_cell
from research.data_sets.stored import FewShotData
from research.figures import class_prototypes, draw_propagation, draw_prototypes, propagation_curves
from research.trained_cells import load_ppn, trained_settings
from tests.support.few_shot_data import UNSEEN_MIDDLE
from tests.support.planar_bench import Place, planar_bench, planar_training

pytestmark = pytest.mark.slow

CELL = Cell("ppn", 5, 1)
CHOSEN: Chosen = {"training_ways": None}


def test_prototypes_of_all_classes() -> None:
    """Buffered ones unchanged, even with test images; the others from test images."""
    bench = planar_bench()
    found = class_prototypes(bench, planar_training().buffered)
    assert found.exists.all()
    expected = {
        Place.ROOT: [10, 0],
        Place.SEEN: [4, 0],
        Place.UNSEEN: [0, 4],
        Place.NEAR: [4, 3],
        Place.FAR: [-5, 0],
        Place.LONE: [2, 0.5],
        Place.BOTH: [0.5, 1.5],
    }
    assert {place: found.vectors[place].tolist() for place in Place} == expected


def test_figure_of_prototypes(colours: FewShotData, trained_runs: Path, tmp_path: Path) -> None:
    """Each class of the data set with its parents, test classes included."""
    drawn = draw_prototypes(colours, trained_runs, tmp_path / "figure", chosen=CHOSEN)
    with drawn.classes.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == list(colours.class_names)
    assert rows[UNSEEN_MIDDLE]["parents"] == "1"
    assert rows[-1]["parents"] == str(UNSEEN_MIDDLE)
    assert drawn.pixels.stat().st_size > 1000
    assert 0 < drawn.in_full_space.ratio < 2


def test_curves_meet_the_table(
    colours: FewShotData, trained_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figure equals the table at the paper's lambda, 0; at 1 both settings agree."""
    ppn = load_ppn(colours, CELL, trained_runs, CHOSEN)
    without, known = propagation_curves(ppn, ways=5)
    settings = trained_settings(colours, CELL, trained_runs, CHOSEN)
    of_table = {
        result.row: result
        for result in test_cell(
            colours, CELL, settings, load_cell(colours, CELL, settings, trained_runs)
        )
    }
    for curve in (without, known):
        assert [point.propagation for point in curve.points] == [step / 10 for step in range(11)]
        assert curve.points[-1].mean == pytest.approx(of_table[curve.setting].mean)
        assert curve.points[-1].interval == pytest.approx(of_table[curve.setting].interval)
    assert without.points[0].mean == pytest.approx(known.points[0].mean)
    assert (known.setting, known.ways, known.shots, known.data) == ("ppn+", 5, 1, "WS-Colours-Pure")


def test_figure_of_propagation(colours: FewShotData, trained_runs: Path, tmp_path: Path) -> None:
    """Two settings at eleven weights for each training, in CSV and two pictures."""
    seen: list[Progress] = []
    pixels, vectors, numbers = draw_propagation(
        [colours],
        trained_runs,
        tmp_path / "figure",
        ways=(5,),
        chosen=CHOSEN,
        on_progress=seen.append,
    )
    with numbers.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 22
    assert {row["setting"] for row in rows} == {"ppn", "ppn+"}
    assert pixels.exists()
    assert vectors.exists()
    assert (seen[-1].done, seen[-1].total) == (22, 22)


def test_not_trained(colours: FewShotData, trained_runs: Path, tmp_path: Path) -> None:
    """The figure needs 10-way too by default; nothing is drawn without."""
    with pytest.raises(InputError, match="ppn was not trained for 10-way 1-shot"):
        draw_propagation([colours], trained_runs, tmp_path / "figure", chosen=CHOSEN)
    assert not (tmp_path / "figure").exists()
