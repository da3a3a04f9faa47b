"""Numbers of classes and images of a data set by level, and the paper's."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from research.data_sets.stored import FewShotData
from research.reports.text_table import MISSING, TextTable


@dataclass(frozen=True)
class Counts:
    """Classes and images of one level, or of all; a class above both parts counts in each."""

    training_classes: int
    training_images: int
    test_classes: int
    test_images: int

    @property
    def images(self) -> int:
        """Images of both parts."""
        return self.training_images + self.test_images

    def cells(self) -> tuple[str, ...]:
        """All numbers as texts, in the order of the columns."""
        numbers = (
            self.training_classes,
            self.training_images,
            self.test_classes,
            self.test_images,
            self.images,
        )
        return tuple(map(str, numbers))


@dataclass(frozen=True)
class Statistics:
    """Counts of a data set.

    Attributes:
        name: of the data set.
        paper_name: of the paper's data set of the same variant.
        levels: counts of each level, coarsest first.
        paper_levels: the paper's.
        unreadable_images: drawn images that were left out because they cannot be read.
    """

    name: str
    paper_name: str
    levels: Mapping[int, Counts]
    paper_levels: Mapping[int, Counts]
    unreadable_images: int

    def as_text(self) -> str:
        """Table for a terminal: each number beside the paper's."""
        rows = [
            (str(level), *_side_by_side(self.levels.get(level), self.paper_levels.get(level)))
            for level in sorted({*self.levels, *self.paper_levels})
        ]
        rows.append(("all", *_side_by_side(total(self.levels), total(self.paper_levels))))
        lines = [
            f"{self.name}, and {self.paper_name} of the paper",
            "",
            TextTable(_HEADER, tuple(rows)).as_text(),
        ]
        if self.unreadable_images:
            lines += ["", f"Images left out because they cannot be read: {self.unreadable_images}"]
        return "\n".join(lines)


def statistics(data: FewShotData) -> Statistics:
    """Count the classes and images of a data set.

    A class counts in a part when it is a few-shot class of that part or an ancestor of one.

    Args:
        data: the data set.
    """
    is_training, is_test = data.part_classes(test=False), data.part_classes(test=True)
    image_levels = data.levels[data.class_positions]
    levels = {}
    for level in np.unique(data.levels).tolist():
        on_level, images = data.levels == level, image_levels == level
        levels[level] = Counts(
            int((is_training & on_level).sum()),
            int((images & ~data.is_test).sum()),
            int((is_test & on_level).sum()),
            int((images & data.is_test).sum()),
        )
    name = f"WS-ImageNet-{data.variant.capitalize()}"
    return Statistics(data.name, name, levels, PAPER.get(data.variant, {}), len(data.unreadable))


def total(levels: Mapping[int, Counts]) -> Counts:
    """Add the counts of all levels."""
    return Counts(
        sum(each.training_classes for each in levels.values()),
        sum(each.training_images for each in levels.values()),
        sum(each.test_classes for each in levels.values()),
        sum(each.test_images for each in levels.values()),
    )


PAPER: Mapping[str, Mapping[int, Counts]] = {
    "pure": {
        3: Counts(7, 15140, 1, 3680),
        4: Counts(13, 10093, 6, 2662),
        5: Counts(25, 6904, 9, 1834),
        6: Counts(44, 4350, 18, 1155),
        7: Counts(71, 2538, 18, 646),
    },
    "mix": {
        3: Counts(7, 92785, 4, 42882),
        4: Counts(13, 76889, 7, 24592),
        5: Counts(23, 50348, 12, 13462),
        6: Counts(42, 22276, 18, 5849),
        7: Counts(71, 7546, 18, 1919),
    },
}
"""The paper's table of statistics."""

_COLUMNS = ("training classes", "training images", "test classes", "test images", "images")
_HEADER = ("level", *(text for column in _COLUMNS for text in (column, "paper")))


def _side_by_side(own: Counts | None, paper: Counts | None) -> list[str]:
    nothing = (MISSING,) * len(_COLUMNS)
    pairs = zip(own.cells() if own else nothing, paper.cells() if paper else nothing, strict=True)
    return [text for pair in pairs for text in pair]
