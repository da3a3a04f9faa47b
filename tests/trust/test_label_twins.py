"""Labels between similar projects are right, and planted faults are detected."""

from pathlib import Path

import pytest

from engine.collection.importing.class_reading import ClassReader
from engine.collection.importing.match_images import ImageMatch, ImageMatcher
from tests.trust.label_twins import Batch, import_many, try_some
from tests.trust.outcome import Fault
from tests.trust.stages import Stage

pytestmark = pytest.mark.slow


def tried(folder: Path, count: int) -> tuple[Fault, ...]:
    """Faults of imports in this process."""
    return try_some(folder, Batch(70, count))[0]


def test_labels_land_where_they_belong(stage: Stage) -> None:
    """Some imports of every kind: no wrong class or photo, and some labels are imported."""
    row = import_many(stage, 20, seed=3)
    assert row.broken == ()
    assert (row.trials, row.acknowledged > 0) == (20, True)


def test_ids_that_are_believed_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matching by id before path, as formerly."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        ClassReader,
        "_agreed",
        lambda _self, named, identified, *_rest: (
            (identified or named)[0] if identified or len(named) == 1 else None
        ),
    )
    assert {"wrong"} <= {fault.kind for fault in tried(tmp_path, 30)}


def test_paths_that_are_believed_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matching by path before content, and dropped labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        ImageMatcher,
        "match",
        lambda self, label: ImageMatch(self._by_path(label, None) or self._ending_as(label.image)),
    )
    assert {"wrong"} <= {fault.kind for fault in tried(tmp_path, 30)}
    monkeypatch.setattr(
        ImageMatcher, "match", lambda _self, _label: ImageMatch((), "x", "other content")
    )
    monkeypatch.setattr("tests.trust.label_twins._listed", lambda _plan: set())
    assert {"lost"} <= {fault.kind for fault in tried(tmp_path, 10)}
