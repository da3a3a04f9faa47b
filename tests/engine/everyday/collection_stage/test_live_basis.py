"""The basis of a large collection is cached, and used only for the same embeddings."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, CollectionState
from engine.config import CacheFolders
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.collection_stage.live_basis import SUFFIX
from engine.everyday.prototypical.model import EverydayModel
from research.benchmarks.synthetic import synthetic_project
from tests.support.live_states import assert_same, own_copy

pytestmark = pytest.mark.slow

ANCHORS = 1100
IMAGES = 1600
LABELS = 400
"""So many that more than `MANY_ANCHORS` of them were no anchors before."""


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with more images than anchors, and the cache of its embeddings beside it.

    Nobody writes to it.
    """
    folder = tmp_path_factory.mktemp("synthetic")
    return synthetic_project(folder, CacheFolders(folder / "cache"), IMAGES)


@pytest.fixture
def caches(made_once: Path, tmp_path: Path) -> CacheFolders:
    """A cache folder with embeddings, and with no basis."""
    shutil.copytree(made_once.parent / "cache", tmp_path / "cache", dirs_exist_ok=True)
    return CacheFolders(tmp_path / "cache")


@pytest.fixture
def project(made_once: Path, tmp_path: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copy(made_once, tmp_path))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets an entry each time a basis is made.

    Collections count as large from `ANCHORS` images on.
    """
    counts: list[int] = []

    def counted(*arguments: Any, **named: Any) -> CollectionBasis | None:
        counts.append(1)
        return collection_basis(*arguments, **named)

    monkeypatch.setattr("engine.everyday.collection_stage.basis.MOST_ANCHORS", ANCHORS)
    monkeypatch.setattr("engine.everyday.collection_stage.live_basis.MOST_ANCHORS", ANCHORS)
    monkeypatch.setattr("engine.everyday.collection_stage.live_basis.collection_basis", counted)
    return counts


def _opened(project: Path, caches: CacheFolders) -> CollectionState:
    live = LiveCollection.open(project, caches)
    try:
        return own_copy(live.load())
    finally:
        live.close()


def _basis_of(live: LiveCollection) -> CollectionBasis:
    fitted = live.fitted
    assert isinstance(fitted, EverydayModel)
    assert fitted.stage is not None
    return fitted.stage.basis


def _cached_files(caches: CacheFolders) -> list[Path]:
    return sorted(caches.collections.iterdir()) if caches.collections.exists() else []


def test_a_second_opening_makes_no_basis(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """The predictions are the same to the last bit."""
    first = _opened(project, caches)
    assert len(made) == 1
    assert_same(_opened(project, caches), first, tolerance=0)
    assert len(made) == 1
    assert len(_cached_files(caches)) == 1


@pytest.mark.parametrize(
    "damage", [b"", b"no basis", b"protoleaf basis 1", b"protoleaf basis 1" + b"\xff" * 100]
)
def test_a_damaged_file_is_made_anew(
    project: Path, caches: CacheFolders, made: list[int], damage: bytes
) -> None:
    """Whatever is in the file, the collection opens, and the next opening is quick again."""
    first = _opened(project, caches)
    (file,) = _cached_files(caches)
    file.write_bytes(damage)
    for count in (2, 2):
        assert_same(_opened(project, caches), first, tolerance=0)
        assert len(made) == count


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_one_wrong_bit(project: Path, caches: CacheFolders, made: list[int], share: float) -> None:
    """A bit that is other anywhere is damage."""
    first = _opened(project, caches)
    (file,) = _cached_files(caches)
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 4
    file.write_bytes(bytes(content))
    assert_same(_opened(project, caches), first, tolerance=0)
    assert len(made) == 2


def test_a_basis_that_was_kept_lies_in_its_file(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """Nearest anchors and cosines take no memory of their own, at the first opening either.

    They are read-only.
    """
    for _ in range(2):
        live = LiveCollection.open(project, caches)
        live.load()
        basis = _basis_of(live)
        assert basis.cosines is not None
        table = basis.found.table
        for array in (table.positions, table.cosines, basis.scales, basis.cosines):
            assert not array.flags.owndata
            assert not array.flags.writeable
        live.close()


def test_a_file_that_goes_while_it_is_mapped(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """Another program may drop it: what is open works on, and another opening makes it anew."""
    first = _opened(project, caches)
    live = LiveCollection.open(project, caches)
    live.load()
    for file in _cached_files(caches):
        file.unlink()
    free = live.state.image_ids[live.state.label_class == NO_CLASS].tolist()
    live.apply(live.project.labels.set(free[:1], int(live.state.best_class[0])))
    live.apply(live.project.labels.remove(free[:1]))
    assert_same(own_copy(live.state), first)
    live.close()
    _opened(project, caches)
    assert len(made) == 2


def test_a_folder_that_may_only_be_read(
    project: Path, caches: CacheFolders, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cached is used although nobody can note when."""
    _opened(project, caches)

    def refuse(*_arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engine.mapped_cache.os.utime", refuse)
    _opened(project, caches)
    assert len(made) == 1


def test_other_embeddings_have_another_basis(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """An image less is another collection: what was cached is of no use for it."""
    _opened(project, caches)
    live = LiveCollection.open(project, caches)
    live.project.images.remove(live.load_list().image_ids[-1:].tolist())
    live.close()
    state = _opened(project, caches)
    assert (len(made), len(state.image_ids)) == (2, IMAGES - 1)
    assert_same(_opened(project, caches), state, tolerance=0)
    assert len(made) == 2


def test_a_refusing_disk_costs_only_time(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """Where nothing can be cached every opening makes the basis, and leaves no files."""
    caches.collections.write_bytes(b"a file where the folder should be")
    first = _opened(project, caches)
    assert_same(_opened(project, caches), first, tolerance=0)
    assert len(made) == 2
    assert caches.collections.read_bytes() == b"a file where the folder should be"


def test_many_labels_more_are_cached_too(
    project: Path, caches: CacheFolders, made: list[int]
) -> None:
    """New labels make new anchors.

    Once they are many the file has them, and opening gives what was there before.
    """
    live = LiveCollection.open(project, caches)
    state = live.load()
    (file,) = _cached_files(caches)
    before = file.read_bytes()
    free = state.image_ids[state.label_class == NO_CLASS].tolist()
    live.apply(live.project.labels.set(free[:LABELS], int(state.best_class[0])))
    after = own_copy(live.state)
    live.close()
    (renamed,) = _cached_files(caches)
    assert (renamed.name != file.name, renamed.read_bytes() != before) == (True, True)
    live = LiveCollection.open(project, caches)
    live.load()
    assert set(np.searchsorted(state.image_ids, free[:LABELS])) <= set(
        _basis_of(live).anchors.tolist()
    )
    live.close()
    assert_same(_opened(project, caches), after)
    assert len(made) == 1


def test_small_collections_cache_nothing(project: Path, caches: CacheFolders) -> None:
    """Making the basis of a few thousand images is as quick as reading a file."""
    _opened(project, caches)
    assert _cached_files(caches) == []


def test_files_of_earlier_versions_go(project: Path, caches: CacheFolders, made: list[int]) -> None:
    """Nobody else would ever delete them."""
    caches.collections.mkdir(parents=True)
    (caches.collections / f"{0:032x}.npz").write_bytes(b"PK")
    _opened(project, caches)
    assert made
    assert [file.suffix for file in _cached_files(caches)] == [SUFFIX]


def test_a_full_disk_costs_only_time(
    project: Path, caches: CacheFolders, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept where it would fill the disk."""
    monkeypatch.setattr(
        "engine.mapped_cache.shutil.disk_usage", lambda _folder: SimpleNamespace(free=0)
    )
    first = _opened(project, caches)
    assert_same(_opened(project, caches), first, tolerance=0)
    assert (len(made), _cached_files(caches)) == (2, [])
