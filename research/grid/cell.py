"""One training of the grid: a method on one split of a data set with one seed, tested in the columns of its shots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from research.cells import COLUMNS, Cell
from research.data_sets.stored import FewShotData, load, read_facts
from research.methods import BEYOND, PPN, MethodSettings

METHODS: Final = ("prototypical-net", "prototypical-net-star", PPN, *BEYOND)
FEW_SHOT_METHODS: Final = frozenset({"prototypical-net", "prototypical-net-heads"})
VALIDATION_CLASSES: Final = 10
"""Training few-shot classes that are put aside, so that 10-way tasks can be drawn of them."""


@dataclass(frozen=True)
class GridCell:
    """What is trained and tested together.

    Attributes:
        data: folder of the data set.
        variant: "pure" or "mix".
        split: seed that the data set was built with, which decides its classes and images.
        seed: of the initial weights and of everything drawn in training.
        method: what is trained.
        shots: of training and test.
        validation: few-shot classes that are put aside.
    """

    data: Path
    variant: str
    split: int
    seed: int
    method: str
    shots: int
    validation: int = VALIDATION_CLASSES

    @property
    def name(self) -> str:
        """Such as `pure/split0/seed1/1s/ppn`: where its result lies."""
        return f"{self.variant}/split{self.split}/seed{self.seed}/{self.shots}s/{self.method}"

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """(ways, shots) that it is tested at."""
        return tuple(column for column in COLUMNS if column[1] == self.shots and column[0] <= self.validation)

    def training_cell(self, settings: MethodSettings) -> Cell:
        """What is trained; its folder lies below that of `runs_below`."""
        return Cell.of(self.method, self.columns[0][0], self.shots, settings)

    def runs_below(self, runs: Path) -> Path:
        """Folder of checkpoints of this split and seed."""
        return runs / f"split{self.split}-seed{self.seed}"

    def open(self) -> FewShotData:
        """The data set with its validation classes put aside."""
        return load(self.data).with_validation(self.validation)


def cells_of(
    folders: Sequence[Path], *, seeds: int, methods: Sequence[str] = METHODS, shots: Sequence[int] = (1, 5)
) -> tuple[GridCell, ...]:
    """All cells, those first that a reader misses most: fewer shots, then seed by seed over all splits and methods.

    Raises:
        StorageError, FormatError: a folder is no data set.
    """
    facts = [(folder, read_facts(folder)) for folder in folders]
    return tuple(
        GridCell(folder, str(fact["variant"]), int(fact["recipe"]["seed"]), seed, method, count)
        for count in shots
        for seed in range(seeds)
        for folder, fact in facts
        for method in methods
    )
