"""A data set as used by training and tests, read from its folder.

A data set is a folder with `pixels.npy` (uint8, (n, S, S, 3)) and `data_set.json` (everything
else).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import FormatError, InputError
from engine.interchange.text_file import read_text
from engine.training.training_set import TrainingSet
from research.data_sets.ancestors import is_above

FORMAT = "protoleaf few-shot data set"
VERSION = 1
DATA_FILE = "data_set.json"
PIXELS_FILE = "pixels.npy"
FEWEST_CLASSES = 2  # to train on: a task needs at least two
_VALIDATION_STREAM = 7001  # of the validation classes


@dataclass(frozen=True)
class FewShotData:
    """Images of C classes in two parts, training and test, whose few-shot classes are disjoint.

    Attributes:
        name: such as "WS-TinyImageNet-Pure".
        variant: "pure" or "mix".
        side: S, side of the stored pixels.
        pixels: (n, S, S, 3) uint8 RGB, memory-mapped; all images of both parts.
        class_positions: (n,) int64 in [0, C): known class of each image.
        is_test: (n,) bool: the image belongs to the test part; training images come first.
        edge_index: (2, E) int64 over all classes: row 0 parent, row 1 child.
        levels: (C,) int64: edges on the shortest path from the root of WordNet.
        class_names: C first words of the synsets.
        class_keys: C WordNet ids.
        training_few_shot: sorted positions, int64.
        test_few_shot: sorted positions, int64.
        unreadable: drawn images that were left out as unreadable, each with the reason.
        validation_few_shot: sorted positions, int64, see `with_validation`; none are among the
            training ones.
    """

    name: str
    variant: str
    side: int
    pixels: NDArray[np.uint8]
    class_positions: NDArray[np.int64]
    is_test: NDArray[np.bool_]
    edge_index: NDArray[np.int64]
    levels: NDArray[np.int64]
    class_names: tuple[str, ...]
    class_keys: tuple[str, ...]
    training_few_shot: NDArray[np.int64]
    test_few_shot: NDArray[np.int64]
    unreadable: tuple[str, ...] = ()
    validation_few_shot: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )

    def with_validation(self, count: int) -> "FewShotData":
        """The same data set with some few-shot classes of training reserved for validation.

        They, and the coarse classes above only them, keep their edges and levels; training has no
        image of any of them. The same classes for each call.

        Raises:
            InputError: too few classes would be left to train on.
        """
        if not count:
            return self
        if count + FEWEST_CLASSES > len(self.training_few_shot):
            raise InputError(
                "too few few-shot classes would be left to train on",
                expected=(
                    f"at most {max(0, len(self.training_few_shot) - FEWEST_CLASSES)} "
                    "validation classes"
                ),
                found=str(count),
            )
        generator = np.random.default_rng(_VALIDATION_STREAM)
        chosen = np.sort(generator.permutation(self.training_few_shot)[:count])
        return replace(
            self,
            training_few_shot=np.setdiff1d(self.training_few_shot, chosen),
            validation_few_shot=chosen,
        )

    def part_classes(self, *, test: bool) -> NDArray[np.bool_]:
        """Mask of the few-shot classes of a part and their ancestors: (C,) bool."""
        few_shot = self.test_few_shot if test else self.training_few_shot
        return is_above(few_shot, self.edge_index, len(self.class_keys))

    def training_set(self) -> TrainingSet:
        """The training part: its images, and edges between few-shot classes and their ancestors.

        All C classes keep their positions; those of the test part have neither images nor edges.
        """
        is_training = self.part_classes(test=False)
        # The training part comes first, so without validation classes it is a view, and a data set
        # larger than memory stays on disk.
        own: slice | NDArray[np.bool_] = slice(int((~self.is_test).sum()))
        if len(self.validation_few_shot):
            own = ~self.is_test & is_training[self.class_positions]
        return TrainingSet(
            pixels=self.pixels[own],
            class_positions=self.class_positions[own],
            edge_index=self.edge_index[:, is_training[self.edge_index].all(axis=0)],
            levels=self.levels,
            few_shot=self.training_few_shot,
            class_names=self.class_names,
        )


def load(folder: Path) -> FewShotData:
    """Open a data set that `build` made.

    Args:
        folder: of the data set.

    Returns:
        The data set; its pixels are memory-mapped.

    Raises:
        StorageError: a file is missing or unreadable.
        FormatError: the folder is no data set, is corrupt, or was written by a newer version.
    """
    facts = read_facts(folder)
    try:
        data = _from_facts(facts, _map_pixels(folder / PIXELS_FILE))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _torn(folder, f"{DATA_FILE} with {error!r}") from error
    problem = next(_problems(data), "")
    if problem:
        raise _torn(folder, problem)
    return data


def read_facts(folder: Path) -> Mapping[str, Any]:
    """Read `data_set.json` and check its kind and version.

    Raises:
        StorageError: the file is missing or unreadable.
        FormatError: it is of another kind, or of a newer version.
    """
    text = read_text(folder / DATA_FILE)
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise _torn(folder, f"{DATA_FILE} that is no JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise FormatError(
            f'the folder "{folder.name}" is no data set',
            expected=f'a {DATA_FILE} that begins with "{FORMAT}"',
            found=f"another {DATA_FILE}",
            remedy="choose the folder that the data set was built in",
        )
    version = facts.get("version")
    if not isinstance(version, int):
        raise _torn(folder, f"{DATA_FILE} of version {version!r}")
    if version > VERSION:
        raise FormatError(
            f'the data set in "{folder.name}" was written by a newer version of the program',
            expected=f"version {VERSION} or older",
            found=f"version {version}",
            remedy="update the program, or build the data set again",
        )
    return facts


def _map_pixels(path: Path) -> NDArray[np.uint8]:
    try:
        pixels: NDArray[np.uint8] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _torn(path.parent, f"{PIXELS_FILE} that cannot be read ({error})") from error
    return pixels


def _from_facts(facts: Mapping[str, Any], pixels: NDArray[np.uint8]) -> FewShotData:
    return FewShotData(
        name=str(facts["name"]),
        variant=str(facts["variant"]),
        side=int(facts["side"]),
        pixels=pixels,
        class_positions=np.array(facts["class_positions"], dtype=np.int64),
        is_test=np.array(facts["is_test"], dtype=np.bool_),
        edge_index=np.array(facts["edges"], dtype=np.int64).reshape(-1, 2).T.copy(),
        levels=np.array(facts["levels"], dtype=np.int64),
        class_names=tuple(map(str, facts["class_names"])),
        class_keys=tuple(map(str, facts["class_keys"])),
        training_few_shot=np.array(facts["training_few_shot"], dtype=np.int64),
        test_few_shot=np.array(facts["test_few_shot"], dtype=np.int64),
        unreadable=tuple(map(str, facts["unreadable"])),
    )


def _problems(data: FewShotData) -> Iterator[str]:
    """Messages of inconsistencies; each check relies on those before it."""
    count, classes = len(data.class_positions), len(data.class_keys)
    if data.pixels.dtype != np.uint8 or data.pixels.shape != (count, data.side, data.side, 3):
        yield f"pixels of shape {data.pixels.shape} and type {data.pixels.dtype} for {count} images"
    if data.is_test.shape != (count,) or (np.diff(data.is_test.astype(np.int8)) < 0).any():
        yield "parts that do not fit the images"
    if not len(data.levels) == len(data.class_names) == classes:
        yield f"levels and names of another number than {classes} classes"
    groups = (data.class_positions, data.edge_index, data.training_few_shot, data.test_few_shot)
    if any(((group < 0) | (group >= classes)).any() for group in groups):
        yield "positions of classes that are not there"
    if np.intersect1d(data.training_few_shot, data.test_few_shot).size:
        yield "few-shot classes in both parts"
    if (data.levels[data.edge_index[0]] >= data.levels[data.edge_index[1]]).any():
        yield "edges that do not lead to a deeper level"


def _torn(folder: Path, found: str) -> FormatError:
    return FormatError(
        f'the data set in "{folder.name}" is damaged or incomplete',
        found=found,
        remedy="build it again",
    )
