"""Load trained cells for tests and figures, with the settings of their training."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from engine.collection.training.settings import Chosen
from engine.errors import InputError
from engine.training import checkpoints
from engine.training.curve import CHECKPOINT_NAME
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import FREELY_CHANGED, Objective, embedder
from engine.training.settings import TrainingSettings
from research.cells import Cell, load_cell, settings_for
from research.data_sets.stored import FewShotData
from research.methods import COLUMN_SETTINGS, MethodSettings, with_chosen
from research.testing.bench import Bench
from research.testing.propagation import LearnedPropagation


def chosen_cell(method: str, ways: int, shots: int, chosen: Chosen) -> Cell:
    """The cell of a method in a column, trained with the chosen number of ways."""
    return Cell.of(method, ways, shots, with_chosen(MethodSettings(), chosen))


_TRAINING_NAMES = frozenset(field.name for field in fields(TrainingSettings))


def trained_settings(data: FewShotData, cell: Cell, runs: Path, chosen: Chosen) -> MethodSettings:
    """Settings of a cell's training, from its checkpoint, with those chosen for the test.

    Args:
        data: the data set.
        cell: that was trained.
        runs: folder of checkpoints.
        chosen: by field name; of the training only settings that may change on resuming.

    Raises:
        InputError: the cell was not trained, or with another optimiser, schedule or arithmetic than
            the chosen one.
        FormatError: the checkpoint is corrupt.
        UsageError: there is no such setting.
    """
    path = cell.folder(runs, data.variant) / CHECKPOINT_NAME
    if not path.exists():
        raise InputError(
            f"{cell.method} was not trained for {cell.ways}-way {cell.shots}-shot tasks on "
            f"{data.name}",
            expected=f"a checkpoint in {path.parent}",
            remedy="train it first: protoleaf experiment train",
        )
    found = checkpoints.read(path).settings
    training = {name: found[name] for name in found.keys() & (_TRAINING_NAMES - FREELY_CHANGED)}
    constants = {name: found[name] for name in found.keys() - _TRAINING_NAMES - COLUMN_SETTINGS}
    remembered = with_chosen(MethodSettings(training=TrainingSettings(**training)), constants)
    settings = with_chosen(remembered, chosen)
    _require_trained_with(settings.training, training, path)
    return settings_for(cell, settings)


def as_reached(
    data: FewShotData, cell: Cell, settings: MethodSettings, runs: Path
) -> MethodSettings:
    """Settings with the iterations that an unfinished training has reached."""
    reached = checkpoints.read(cell.folder(runs, data.variant) / CHECKPOINT_NAME).iteration
    return replace(settings, training=replace(settings.training, iterations=reached))


def refresh(data: FewShotData, objective: Objective, settings: MethodSettings) -> None:
    """Recompute the buffer of an unfinished training from its last weights."""
    objective.refresh(embedder(objective, data.training_set().pixels, settings.training.side))


def _require_trained_with(settings: TrainingSettings, found: Mapping[str, Any], path: Path) -> None:
    for name in sorted(found):
        if getattr(settings, name) != found[name]:
            raise InputError(
                f"the checkpoint was trained with another {name}",
                expected=str(getattr(settings, name)),
                found=f"{found[name]} in {path}",
                remedy="leave the setting out, or train with it into another folder",
            )


@dataclass(frozen=True)
class TrainedPpn:
    """A trained PPN with everything that its tests need.

    Attributes:
        bench: the data set's embeddings.
        trained: attention and buffered `P0`.
        settings: of its training, with the cell's ways and shots.
    """

    bench: Bench
    trained: LearnedPropagation
    settings: MethodSettings


def load_ppn(data: FewShotData, cell: Cell, runs: Path, chosen: Chosen) -> TrainedPpn:
    """Load a trained PPN.

    Args:
        data: the data set.
        cell: its method is PPN.
        runs: folder of checkpoints.
        chosen: settings of the test, by field name.

    Raises:
        InputError: it was not trained, not finished, or trained with other settings.
        FormatError: the checkpoint is corrupt.
        ModelError: the checkpoint is of another architecture.
        UsageError: there is no such setting.
    """
    settings = trained_settings(data, cell, runs, chosen)
    return ppn_of(data, load_cell(data, cell, settings, runs), settings)


def ppn_of(data: FewShotData, objective: object, settings: MethodSettings) -> TrainedPpn:
    """A trained PPN from a loaded objective."""
    assert isinstance(objective, PrototypePropagation), "the cell's method is PPN"
    bench = Bench(data, embedder(objective, data.pixels, settings.training.side))
    return TrainedPpn(bench, LearnedPropagation.of(objective), settings)
