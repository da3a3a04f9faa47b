"""Labels of three merged copies keep their classes, and planted faults are detected."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.merging.class_match import ClassMatcher
from engine.merging.image_match import ImagePairs
from engine.merging.planning import _Labels
from tests.trust.outcome import Fault
from tests.trust.stages import Stage
from tests.trust.trios import Batch, merge_many, try_some

pytestmark = pytest.mark.slow


def tried(folder: Path, batch: Batch) -> set[str]:
    """Kinds of faults of trios in this process."""
    faults: tuple[Fault, ...] = try_some(folder, batch)[0]
    return {fault.kind for fault in faults}


def test_labels_stay_on_their_classes(stage: Stage) -> None:
    """Some trios: no wrong class, no silent loss, and some labels are merged."""
    row = merge_many(stage, 10, seed=3)
    assert row.broken == ()
    assert (row.trials, row.acknowledged > 0) == (10, True)


def test_classes_known_by_their_numbers_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matching by id and name, as formerly."""

    def by_number(self: ClassMatcher) -> None:
        for each in self.ordered:
            is_free = each in self._ours and each not in self._taken and each not in self.pairs
            if is_free and self._ours.name(each) == self._theirs.name(each):
                self._take(each, each)

    monkeypatch.setattr(ClassMatcher, "_match_identities", by_number)
    assert "wrong" in tried(tmp_path, Batch(20, 10))


def test_dropped_labels_of_second_copies_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing only the first of several copies of a photo."""
    compare = _Labels.compare

    def of_pairs(self: _Labels, images: ImagePairs) -> None:
        compare(self, replace(images, copies=()))

    monkeypatch.setattr(_Labels, "compare", of_pairs)
    assert tried(tmp_path, Batch(70, 10)) == {"lost"}
