"""A training of the grid: a method on one split with one seed, tested in its columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import UsageError
from research.cells import COLUMNS, Cell
from research.data_sets.stored import FewShotData, load, read_facts
from research.grid import VALIDATION_CLASSES
from research.methods import BASELINES, BEYOND, METHODS, MethodSettings

MAIN_METHODS = tuple(name for name in (*METHODS, *BEYOND) if not name.startswith(BASELINES[1:]))
"""All but the slowest baselines; of the baselines only Prototypical Net."""


@dataclass(frozen=True)
class GridCell:
    """Training and its tests.

    Attributes:
        data: folder of the data set.
        variant: "pure" or "mix".
        split: seed that the data set was built with, which decides its classes and images.
        seed: of the initial weights and of everything drawn in training.
        method: method to train.
        shots: of training and test.
        validation: number of validation classes.
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
        """Name and path of its result, such as `pure/split0/seed1/1s/ppn`."""
        return f"{self.variant}/split{self.split}/seed{self.seed}/{self.shots}s/{self.method}"

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """(ways, shots) that it is tested at."""
        return tuple(
            column for column in COLUMNS if column[1] == self.shots and column[0] <= self.validation
        )

    def training_cell(self, settings: MethodSettings) -> Cell:
        """The training; its folder is below `runs_below`.

        A GNN is made for the largest number of classes of any column; smaller tasks leave part of
        its label unused.
        """
        place = -1 if self.method.startswith("gnn") else 0
        return Cell.of(self.method, self.columns[place][0], self.shots, settings)

    @property
    def start(self) -> "GridCell | None":
        """The cell with the initial weights of this one.

        A GNN for 5 shots starts from that for 1: its graphs are large, and its iterations few.
        """
        return replace(self, shots=1) if self.method.startswith("gnn") and self.shots > 1 else None

    def runs_below(self, runs: Path) -> Path:
        """Folder of checkpoints of this split and seed."""
        return runs / f"split{self.split}-seed{self.seed}"

    def open(self) -> FewShotData:
        """The data set with its validation classes."""
        return load(self.data).with_validation(self.validation)


def cells_of(
    folders: Sequence[Path],
    *,
    seeds: int,
    methods: Sequence[str] = MAIN_METHODS,
    shots: Sequence[int] = (1, 5),
    validation: int = VALIDATION_CLASSES,
) -> tuple[GridCell, ...]:
    """All cells, the most important first: fewer shots, then by seed, over splits and methods.

    Raises:
        StorageError, FormatError: a folder is no data set.
        UsageError: two are the same split.
    """
    facts: dict[tuple[str, int], Path] = {}
    for folder in folders:
        found = read_facts(folder)
        split = (str(found["variant"]), int(found.get("recipe", {}).get("seed", 0)))
        if split in facts:
            raise UsageError(
                "two data sets are the same split",
                expected="each built with a seed of its own",
                found=f"{folder} and {facts[split]}",
                remedy="build one with another --seed",
            )
        facts[split] = folder
    return tuple(
        GridCell(folder, variant, split, seed, method, count, validation)
        for count in shots
        for seed in range(seeds)
        for (variant, split), folder in facts.items()
        for method in methods
    )


def names_of(folders: Sequence[Path]) -> dict[str, str]:
    """Names of all classes of some data sets, by id.

    Raises:
        StorageError, FormatError: a folder is no data set.
    """
    found = map(load, folders)
    return {
        key: name
        for data in found
        for key, name in zip(data.class_keys, data.class_names, strict=True)
    }
