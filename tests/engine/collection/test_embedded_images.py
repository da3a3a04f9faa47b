"""Which images are embedded in all views: labelled ones, and all of a small collection."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.collection.backbone_change import compare_on_shots
from engine.collection.classify import classify_project
from engine.collection.embed import embed_closer, embed_project, open_views_cache
from engine.collection.live import LiveCollection
from engine.embedding.views import MOST_PER_CLASS
from engine.everyday.blocks import to_floats
from engine.everyday.shots import Shots
from engine.project import Project
from engine.requests import images_to_embed, views_to_embed
from tests.support.collections import (
    Collection,
    add_stranger,
    cache_of_test,
    without_its_views,
    write_shape,
)


@pytest.fixture
def large(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """The small collection counted as large: only its 24 shots are embedded in all views."""
    for module in ("engine.embedding.views", "engine.collection.embedded_images"):
        monkeypatch.setattr(f"{module}.MOST_IN_ALL_VIEWS", 10)
    without_its_views(collection)
    with Project.open(collection.project) as project:
        embed_closer(project, collection.caches, device="cpu")
    return collection


@pytest.fixture
def live(large: Collection) -> Iterator[LiveCollection]:
    """The opened collection."""
    live = LiveCollection.open(large.project, large.caches)
    live.load()
    yield live
    live.close()


def shots_of(live: LiveCollection) -> Shots:
    """The shots of a fit."""
    return live.fit_input().snapshot.shots


def from_cache(live: LiveCollection, image_id: int) -> np.ndarray:
    """An image's embedding averaged over all views, from the cache."""
    with open_views_cache(live.model, cache_of_test()) as cache:
        (vector,), (found,) = cache.get_many(
            [each or b"" for each in live.embedded.images.hashes_of([image_id])]
        )
    assert found
    return vector.astype(np.float32)


def unlabelled(live: LiveCollection) -> int:
    """The first unlabelled image."""
    return int(live.state.image_ids[live.state.label_class < 0][0])


@pytest.mark.slow
def test_shots_are_over_all_views_and_held_out_by_one(live: LiveCollection) -> None:
    """Prototypes use all views; held-out classification of an image uses one."""
    shots = shots_of(live)
    assert len(live.state.without_views) == 0
    for place in (0, 13, 23):
        image_id = int(shots.image_ids[place])
        row = live.embedded.ready_row(image_id)
        assert shots.embeddings[place] == pytest.approx(from_cache(live, image_id), abs=1e-3)
        assert (shots.as_classified[place] == to_floats(live.embedded.store.embeddings[row])).all()
    assert not np.allclose(shots.embeddings, shots.as_classified, atol=1e-2)


@pytest.mark.slow
def test_a_new_label_waits_for_its_views_and_predictions_do_not(live: LiveCollection) -> None:
    """It counts at once with one view, later with all of them; predictions do not wait."""
    image_id = unlabelled(live)
    state = live.apply(
        live.project.labels.set(
            [image_id], int(live.state.best_class[live.state.position(image_id)])
        )
    )
    assert len(state.without_views) == 1
    place = shots_of(live).image_ids.tolist().index(image_id)
    assert (shots_of(live).embeddings[place] == shots_of(live).as_classified[place]).all()
    request = views_to_embed(live, cache_of_test(), "cpu", most=10)
    assert request is not None
    assert (request.with_views, [each.image_id for each in request.images]) == (True, [image_id])
    assert (request.done_before, request.total) == (0, 1)
    assert views_to_embed(live, cache_of_test(), "cpu", asked={image_id}, most=10) is None
    assert images_to_embed(live, cache_of_test(), "cpu") is None
    done = embed_closer(live.project, cache_of_test(), device="cpu")
    assert done is not None
    assert done.embedded == 1
    before = live.fitted
    assert len(live.take_embedded([image_id]).without_views) == 0
    assert live.fitted is not before
    assert shots_of(live).embeddings[place] == pytest.approx(from_cache(live, image_id), abs=1e-3)


@pytest.mark.slow
def test_images_that_are_as_before_need_no_fit(live: LiveCollection) -> None:
    """Views that failed or were embedded twice need no fit."""
    ids = [unlabelled(live), *shots_of(live).image_ids.tolist()]
    state, model = live.state, live.fitted
    assert live.take_embedded(ids, fits=False) is state
    assert not live.is_behind
    assert live.take_embedded(ids) is state
    assert live.fitted is model


@pytest.mark.slow
def test_nothing_is_embedded_twice(live: LiveCollection) -> None:
    """Cached views are used when a label is restored, without opening a backbone."""
    assert embed_closer(live.project, cache_of_test(), device="cpu") is None
    image_id = int(shots_of(live).image_ids[3])
    live.apply(live.project.labels.remove([image_id]))
    assert image_id not in shots_of(live).image_ids
    undone = live.project.history.undo()
    assert undone is not None
    assert len(live.apply(undone).without_views) == 0


@pytest.mark.slow
def test_a_file_that_changed_is_not_taken_for_what_it_was(live: LiveCollection) -> None:
    """Its single view is embedded again, and all cached views of the old picture are dropped."""
    image_id = int(shots_of(live).image_ids[3])
    path: Path = live.state.path_of(image_id)
    write_shape(path, "Red disc", seed=991)
    embed_project(live.project, cache_of_test(), device="cpu")
    assert len(live.take_embedded([image_id]).without_views) == 1
    shots = shots_of(live)
    assert (shots.embeddings[3] == shots.as_classified[3]).all()


@pytest.mark.slow
def test_without_the_file_one_view_goes_on(live: LiveCollection) -> None:
    """An image whose file is missing keeps its single-view embedding and is no failure."""
    image_id = unlabelled(live)
    live.apply(
        live.project.labels.set(
            [image_id], int(live.state.best_class[live.state.position(image_id)])
        )
    )
    live.state.path_of(image_id).unlink()
    done = embed_closer(live.project, cache_of_test(), device="cpu")
    assert done is not None
    assert (done.embedded, done.missing) == (0, 1)
    assert image_id in shots_of(live).image_ids
    assert not live.state.failures


@pytest.mark.slow
def test_a_class_with_many_labels_has_enough(live: LiveCollection) -> None:
    """Only the first ten images of a class are requested in all views."""
    ids = live.state.image_ids[live.state.label_class < 0].tolist()
    class_id = int(live.state.label_class.max())
    assert len(live.apply(live.project.labels.set(ids, class_id)).without_views) <= MOST_PER_CLASS


@pytest.mark.slow
def test_a_collection_that_is_not_large_is_classified_by_all_views(collection: Collection) -> None:
    """All 64 images are requested, labelled ones first; then every row uses all views."""
    without_its_views(collection)
    live = LiveCollection.open(collection.project, collection.caches)
    live.load()
    before, one_view = live.state, live.embedded.store.embeddings.copy()
    assert len(before.without_views) == 64
    request = views_to_embed(live, cache_of_test(), "cpu", most=64)
    assert request is not None
    ids = [each.image_id for each in request.images]
    assert sorted(ids) == before.image_ids.tolist()
    assert (before.label_class[[before.position(image_id) for image_id in ids]] >= 0).tolist() == [
        True
    ] * 24 + [False] * 40
    embed_closer(live.project, cache_of_test(), device="cpu")
    live.take_embedded(ids[:30])
    assert (live.embedded.store.embeddings == one_view).all()
    after = live.take_embedded(ids[30:])
    assert live.embedded.uses_views
    assert (len(after.without_views), (after.best_class >= 0).sum()) == (0, 64)
    for image_id in ids[:2] + ids[-2:]:
        row = live.embedded.ready_row(image_id)
        assert to_floats(live.embedded.store.embeddings[row]) == pytest.approx(
            from_cache(live, image_id), abs=1e-3
        )
    live.close()
    again = LiveCollection.open(collection.project, collection.caches)
    assert again.load().best_class.tolist() == after.best_class.tolist()
    assert (again.embedded.store.embeddings == live.embedded.store.embeddings).all()
    again.close()


@pytest.mark.slow
def test_predictions_stay_while_views_take_over(collection: Collection) -> None:
    """A deferred fit leaves the model unchanged and classifies the better embeddings."""
    without_its_views(collection)
    live = LiveCollection.open(collection.project, collection.caches)
    live.load()
    embed_closer(live.project, cache_of_test(), device="cpu")
    state = live.take_embedded(live.state.image_ids.tolist(), fits=False)
    assert live.embedded.uses_views
    assert live.is_behind
    assert (state.best_class >= 0).all()
    live.close()


@pytest.mark.slow
def test_an_image_that_comes_later_has_one_view_at_first(collection: Collection) -> None:
    """It is classified by one view among images with all views."""
    image_id = add_stranger(collection)
    live = LiveCollection.open(collection.project, collection.caches)
    state = live.load()
    assert (live.embedded.uses_views, len(state.without_views)) == (True, 1)
    assert state.best_class[state.position(image_id)] >= 0
    embed_closer(live.project, cache_of_test(), device="cpu")
    assert len(live.take_embedded([image_id]).without_views) == 0
    row = live.embedded.ready_row(image_id)
    assert to_floats(live.embedded.store.embeddings[row]) == pytest.approx(
        from_cache(live, image_id), abs=1e-3
    )
    live.close()


@pytest.mark.slow
def test_some_files_that_are_gone_do_not_keep_the_others_from_it(collection: Collection) -> None:
    """Three of 64 files are missing and keep one view; all others have all views."""
    without_its_views(collection)
    live = LiveCollection.open(collection.project, collection.caches)
    live.load()
    for image_id in live.state.image_ids[-3:].tolist():
        live.state.path_of(image_id).unlink()
    embed_closer(live.project, cache_of_test(), device="cpu")
    state = live.take_embedded(live.state.image_ids.tolist())
    assert (live.embedded.uses_views, len(state.without_views)) == (True, 3)
    assert (state.best_class >= 0).all()
    live.close()


@pytest.mark.slow
def test_models_are_compared_by_one_view_each(collection: Collection) -> None:
    """One has all views cached and the other none, so single views are compared."""
    without_its_views(collection)
    with Project.open(collection.project) as project:
        alone = classify_project(project, collection.caches)
        embed_closer(project, collection.caches, device="cpu")
        assert not np.array_equal(
            classify_project(project, collection.caches).embeddings, alone.embeddings
        )
        compared = classify_project(project, collection.caches, with_views=False)
        assert np.array_equal(compared.embeddings, alone.embeddings)
        assert (compared.fitted.shots.embeddings == alone.fitted.shots.embeddings).all()
        version = project.models.current
        assert (
            compared.fitted.hold_out_each(project.classes.graph).mean()
            == compare_on_shots(project, collection.caches, version, version).before
        )
