"""The predictions of a large collection are cached for the next opening."""

import gc
import shutil
import weakref
from pathlib import Path

import numpy as np
import pytest

from engine.collection.fitting import run_fit
from engine.collection.live import LiveCollection
from engine.collection.prediction_cache import SUFFIX
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.project import Project
from tests.support.collections import (
    FAMILIES,
    LEAVES,
    Collection,
    class_ids,
    embed_collection,
    write_graph,
)
from tests.support.live_states import assert_same

PREDICTED = ("best_class", "best_score", "safe_class", "safe_score", "is_unknown")


@pytest.fixture
def large(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """The small collection counted as large."""
    for name in (
        "collection.embedded_images.FEWEST_CACHED",
        "collection.embedded_images.MOST_IN_ALL_VIEWS",
        "embedding.views.MOST_IN_ALL_VIEWS",
    ):
        monkeypatch.setattr(f"engine.{name}", 10)
    return collection


def closed(large: Collection) -> CollectionState:
    """Open, classify and close the collection; return its last state."""
    live = LiveCollection.open(large.project, large.caches)
    state = live.load()
    live.close()
    return state


def assert_predicts_as(state: CollectionState, other: CollectionState) -> None:
    """Compare the predictions of all images."""
    for name in PREDICTED:
        assert np.array_equal(getattr(state, name), getattr(other, name)), name


@pytest.mark.slow
def test_the_list_comes_with_predictions(large: Collection) -> None:
    """Before and after embeddings are loaded; the first fit replaces them."""
    before = closed(large)
    live = LiveCollection.open(large.project, large.caches)
    listed = live.load_list()
    assert listed.is_list_only
    assert (listed.status == ImageStatus.READY).all()
    assert_predicts_as(listed, before)
    assert listed.image_counts == before.image_counts
    assert_predicts_as(live.load(fits=False), before)
    assert live.fitted is None
    assert_same(live.load(), before)
    live.close()


@pytest.mark.slow
def test_kept_predictions_go_with_the_first_fit(large: Collection) -> None:
    """They are freed by the first fit."""
    closed(large)
    live = LiveCollection.open(large.project, large.caches)
    kept = weakref.ref(live.load_list().best_score)
    live.load(fits=False)
    assert kept() is not None
    live.adopt(run_fit(live.fit_input()))
    gc.collect()
    assert kept() is None
    live.close()


def test_an_image_with_another_content_waits(large: Collection) -> None:
    """Predictions of an image with another content hash are dropped."""
    before = closed(large)
    live = LiveCollection.open(large.project, large.caches)
    image_id = int(before.image_ids[5])
    live.project.images.record_scan([(image_id, b"another content!", None)])
    listed = live.load_list()
    assert (listed.status[5], listed.best_class[5]) == (ImageStatus.WAITING, NO_CLASS)
    assert np.array_equal(np.delete(listed.best_class, 5), np.delete(before.best_class, 5))
    live.close()


@pytest.mark.slow
def test_a_class_that_is_gone_is_not_predicted(large: Collection) -> None:
    """Neither as most probable nor as safe class."""
    before = closed(large)
    live = LiveCollection.open(large.project, large.caches)
    gone = class_ids(live.project)[LEAVES[0]]
    live.project.labels.remove(before.image_ids[before.label_class == gone].tolist())
    live.project.classes.edit(lambda graph: graph.remove(gone))
    listed = live.load_list()
    assert (before.best_class == gone).any()
    assert not np.isin([listed.best_class, listed.safe_class], gone).any()
    kept = (before.best_class != gone) & (before.safe_class != gone)
    assert np.array_equal(listed.best_class[kept], before.best_class[kept])
    assert (listed.best_score[listed.best_class == NO_CLASS] == 0).all()
    live.close()


@pytest.mark.slow
def test_images_that_come_before_the_fit_have_none(large: Collection, tmp_path: Path) -> None:
    """Rows do not shift: new images have no predictions until the fit."""
    closed(large)
    live = LiveCollection.open(large.project, large.caches)
    live.load_list()
    live.load(fits=False)
    state = live.take(live.project.images.remove([int(live.state.image_ids[0])]))
    assert (state.best_class == NO_CLASS).all()
    live.close()


@pytest.mark.slow
def test_what_was_only_tried_out_is_not_kept(large: Collection) -> None:
    """The previous predictions stay cached."""
    before = closed(large)
    live = LiveCollection.open(large.project, large.caches)
    state = live.load()
    live.project.what_if.begin()
    shots = state.image_ids[state.label_class != NO_CLASS].tolist()
    live.apply(live.project.labels.set(shots, class_ids(live.project)[LEAVES[0]]))
    live.close()
    live = LiveCollection.open(large.project, large.caches)
    assert_predicts_as(live.load_list(), before)
    live.close()


@pytest.mark.slow
def test_another_project_under_its_name_is_shown_none(large: Collection) -> None:
    """Equal image and class ids of another project match nothing."""
    closed(large)
    large.project.unlink()
    write_graph(large.graph, {f"Other {family}": leaves for family, leaves in FAMILIES.items()})
    embed_collection(large)
    live = LiveCollection.open(large.project, large.caches)
    assert (live.load_list().best_class == NO_CLASS).all()
    live.close()


@pytest.mark.slow
def test_a_class_that_took_the_id_of_another_is_not_predicted(
    large: Collection, tmp_path: Path
) -> None:
    """An older backup gives its id to another class; the cached prediction is dropped."""
    older = shutil.copy(large.project, tmp_path / "older")
    live = LiveCollection.open(large.project, large.caches)
    state = live.load()
    change, first = live.project.classes.add("First")
    live.apply(change)
    shots = state.image_ids[state.label_class == class_ids(live.project)[LEAVES[0]]]
    live.apply(live.project.labels.set(shots.tolist(), first))
    assert first in live.state.best_class
    live.close()
    shutil.copy(older, large.project)
    with Project.open(large.project) as project:
        assert project.classes.add("Second")[1] == first
    live = LiveCollection.open(large.project, large.caches)
    listed = live.load_list()
    assert not np.isin([listed.best_class, listed.safe_class], first).any()
    assert (listed.best_class != NO_CLASS).any()
    live.close()


@pytest.mark.parametrize("damage", [b"", b"PK\x05\x06", b"nothing of this kind" * 50])
def test_a_damaged_file_is_passed_over(large: Collection, damage: bytes) -> None:
    """It is ignored."""
    closed(large)
    (path,) = large.caches.collections.glob(f"*{SUFFIX}")
    whole = path.read_bytes()
    live = LiveCollection.open(large.project, large.caches)
    for content in (damage, whole[:200], whole[:-30], whole[:400] + b"\xff" * 40 + whole[440:]):
        path.write_bytes(content)
        assert (live.load_list().best_class == NO_CLASS).all()
    live.close()


def test_a_small_collection_keeps_none(collection: Collection) -> None:
    """A small collection is classified quickly and not cached."""
    closed(collection)
    assert not list(collection.caches.collections.glob(f"*{SUFFIX}"))
