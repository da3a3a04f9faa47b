"""Training and testing one cell of the table."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled, FormatError, InputError, ModelError
from engine.events import CancelToken
from research.cells import Cell, load_cell, settings_for, test_cell, train_cell
from research.data_sets.stored import FewShotData
from research.methods import METHODS, MethodSettings
from tests.support.quick_training import quick_settings

CELL = Cell("prototypical-net", 5, 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_train_and_test(method: str, colours: FewShotData, tmp_path: Path) -> None:
    """Every method trains, is loaded again, and is tested on 600 tasks."""
    cell, settings = Cell(method, 2, 1), quick_settings()
    outcome = train_cell(colours, cell, settings, tmp_path)
    assert [point.iteration for point in outcome.curve] == [2, 3]
    assert all(point.accuracy is not None and 0 <= point.accuracy <= 1 for point in outcome.curve)
    assert cell.is_trained(tmp_path, "pure", 3)
    found = test_cell(colours, cell, settings, load_cell(colours, cell, settings, tmp_path))
    assert [result.row for result in found] == (["ppn", "ppn+"] if method == "ppn" else [method])
    assert {len(result.accuracies) for result in found} == {600}
    assert all((result.variant, result.ways, result.shots) == ("pure", 2, 1) for result in found)
    assert all(
        result.settings["side"] == 16 and result.settings["iterations"] == 3 for result in found
    )


@pytest.mark.slow
def test_same_training_same_result(
    colours: FewShotData, trained_runs: Path, tmp_path: Path
) -> None:
    """A resumed training gives the same accuracies as an uninterrupted one."""
    settings = quick_settings(seed=3)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        train_cell(
            colours, CELL, settings, tmp_path, on_point=lambda _: cancel.cancel(), cancel=cancel
        )
    assert not CELL.is_trained(tmp_path, "pure", 3)
    assert train_cell(colours, CELL, settings, tmp_path).iterations == 3
    whole, torn = (load_cell(colours, CELL, settings, runs) for runs in (trained_runs, tmp_path))
    assert test_cell(colours, CELL, settings, whole) == test_cell(colours, CELL, settings, torn)


@pytest.mark.slow
def test_a_training_may_begin_with_the_weights_of_another(
    colours: FewShotData, tmp_path: Path
) -> None:
    """The first loss differs from that of random weights, and is deterministic."""
    first, settings = Cell("prototypical-net", 5, 1), quick_settings(point_interval=1)
    train_cell(colours, first, settings, tmp_path / "a")
    train_cell(colours, first, settings, tmp_path / "b")
    cell = Cell("prototypical-net", 2, 1)
    losses = [
        train_cell(colours, cell, settings, tmp_path / runs, start=start).curve[0].loss
        for runs, start in (("a", first), ("b", first), ("c", None))
    ]
    assert losses[0] == losses[1] != losses[2]


def test_columns_share_nothing_but_closer_look(tmp_path: Path) -> None:
    """Closer Look's training does not depend on ways and shots, so columns share it."""
    folders = {Cell("closer-look-star", ways, 1).folder(tmp_path, "pure") for ways in (5, 10)}
    assert len(folders) == 1
    assert (
        len(
            {
                Cell("ppn", ways, shots).folder(tmp_path, "pure")
                for ways in (5, 10)
                for shots in (1, 5)
            }
        )
        == 4
    )


def test_settings_of_a_column() -> None:
    """Ways and shots reach the settings that use them."""
    settings = settings_for(Cell("gnn", 10, 5), MethodSettings())
    assert (settings.shape.ways, settings.shape.shots, settings.gnn.max_ways) == (10, 5, 10)
    assert settings.propagation.own_weight == 0.5


def test_checkpoint_of_other_settings(colours: FewShotData, trained_runs: Path) -> None:
    """Training with other settings into the same folder is refused, naming the first one."""
    with pytest.raises(
        InputError, match=r"trained with another seed: expected 4, found 3 in .*another folder"
    ):
        train_cell(colours, CELL, quick_settings(seed=4), trained_runs)


def test_checkpoint_of_another_architecture(colours: FewShotData, trained_runs: Path) -> None:
    """The message has the tensor and both shapes."""
    settings = quick_settings(seed=3, hidden_width=4)
    with pytest.raises(
        ModelError, match=r"expected attention\.g\.weight \(4, 64\), found \(128, 64\)"
    ):
        load_cell(colours, Cell("ppn", 5, 1), settings, trained_runs)


def test_unfinished_training(colours: FewShotData, trained_runs: Path) -> None:
    """An unfinished training is not tested."""
    with pytest.raises(InputError, match="not finished: expected 9 iterations, found 3"):
        load_cell(colours, CELL, quick_settings(seed=3, iterations=9), trained_runs)


def test_no_training(colours: FewShotData, tmp_path: Path) -> None:
    """The message has the missing checkpoint."""
    with pytest.raises(FormatError, match="prototypical-net"):
        load_cell(colours, CELL, quick_settings(), tmp_path)


def test_images_smaller_than_the_side(colours: FewShotData, tmp_path: Path) -> None:
    """The stored images have 16 px."""
    with pytest.raises(InputError, match="at most 16 px, found 32 px"):
        train_cell(colours, CELL, quick_settings(side=32), tmp_path)


def test_loaded_for_tests(colours: FewShotData, trained_runs: Path) -> None:
    """In evaluation mode, in the precision of the settings."""
    settings = quick_settings(seed=3)
    objective = load_cell(colours, CELL, settings, trained_runs)
    assert not objective.training
    assert objective.precision == torch.float32
    in_bfloat16 = replace(settings, training=replace(settings.training, precision="bfloat16"))
    assert load_cell(colours, CELL, in_bfloat16, trained_runs).precision == torch.bfloat16
