"""Boxes in an open collection: any action leaves the state of a fresh opening."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.fitting import run_fit
from engine.collection.live import LiveCollection
from engine.collection.project_folds import folds_of_project
from engine.collection.state import BOXED, EMPTY, NO_CLASS, ImageStatus
from engine.project import Change
from engine.requests import images_to_embed
from tests.support.collections import Collection, class_ids
from tests.support.live_states import assert_same, fresh_state

FIRST, SECOND = "xywh=percent:5,5,50,50", "xywh=percent:40,40,55,55"


@pytest.fixture
def boxed(live: LiveCollection, collection: Collection) -> LiveCollection:
    """A collection whose last photo has two embedded boxes."""
    photo = int(live.state.image_ids[-1])
    live.apply(live.project.images.add_parts(photo, [FIRST, SECOND]))
    embed(live, collection)
    return live


def embed(live: LiveCollection, collection: Collection) -> None:
    """Embed pending images as the window does."""
    wanted = images_to_embed(live, collection.caches, "cpu")
    assert wanted is not None
    embed_project(live.project, collection.caches, device="cpu", with_views=True)
    live.take_embedded([request.image_id for request in wanted.images])


@pytest.mark.slow
def test_boxes_are_classified_in_place_of_their_photo(boxed: LiveCollection) -> None:
    state = boxed.state
    photo, *boxes = state.image_ids[-3:].tolist()
    assert state.label_class[-3:].tolist() == [BOXED, NO_CLASS, NO_CLASS]
    assert state.status[-3:].tolist() == [ImageStatus.READY] * 3
    assert state.is_to_review[-3:].tolist() == [False, True, True]
    assert (state.best_class[-2:] != NO_CLASS).all()
    assert list(state.items_of_file(boxes[0])) == [photo, *boxes]
    assert [state.source_of(each).part for each in (photo, *boxes)] == ["", FIRST, SECOND]
    assert len(set(map(float, state.best_score[-3:]))) > 1
    assert state.labelled_count == 24


@pytest.mark.slow
def test_whatever_is_done_with_boxes(boxed: LiveCollection, collection: Collection) -> None:
    """Labels, moves, "empty", removals, undo and redo."""
    project, ids = boxed.project, class_ids(boxed.project)
    photo, first, second = boxed.state.image_ids[-3:].tolist()
    undo: Callable[[], Change | None] = project.history.undo
    actions: list[Callable[[], Change | None]] = [
        lambda: project.labels.set([first], ids["Blue checks"]),
        lambda: project.labels.set([second], EMPTY),
        lambda: project.images.change_part(first, "xywh=percent:6,5,50,50"),
        undo,
        lambda: project.labels.set([photo], ids["Red"]),
        undo,
        lambda: project.images.add_parts(photo, ["thing=2"], [ids["Red"]]),
        lambda: project.images.remove([first, second]),
        undo,
        lambda: project.images.remove([photo]),
        undo,
    ]
    for action in actions:
        change = action()
        assert change is not None
        boxed.apply(change)
        if (boxed.state.status == ImageStatus.WAITING).any():
            embed(boxed, collection)
        boxed.adopt_folds(folds_of_project(project, collection.caches))
        if boxed.is_behind:
            boxed.adopt(run_fit(boxed.fit_input()))
        assert_same(boxed.state, fresh_state(boxed, collection.caches))


@pytest.mark.slow
def test_a_moved_box_waits_and_an_undone_move_does_not(boxed: LiveCollection) -> None:
    box = int(boxed.state.image_ids[-1])
    boxed.apply(boxed.project.images.change_part(box, "xywh=percent:41,40,55,55"))
    assert boxed.state.status[-1] == ImageStatus.WAITING
    change = boxed.project.history.undo()
    assert change is not None
    boxed.apply(change)
    assert boxed.state.status[-1] == ImageStatus.READY


def test_images_of_one_file_are_requested_together(
    live: LiveCollection, collection: Collection
) -> None:
    photos = live.state.image_ids[:2].tolist()
    for box in (FIRST, SECOND):
        for photo in photos:
            live.apply(live.project.images.add_parts(photo, [box]))
    wanted = images_to_embed(live, collection.caches, "cpu")
    assert wanted is not None
    paths = [request.path for request in wanted.images]
    assert len(paths) == 4
    assert paths == sorted(paths, key=paths.index)
    assert paths[0] == paths[1] != paths[2]
    assert all(request.known_hash is not None or request.part for request in wanted.images)


@pytest.mark.slow
def test_boxes_are_in_no_fold_and_held_out_with_their_photo(
    boxed: LiveCollection, collection: Collection
) -> None:
    project = boxed.project
    project.images.add_parts(int(boxed.state.image_ids[-3]), ["thing=2"])
    embed_project(project, collection.caches, device="cpu", with_views=True)
    folds = folds_of_project(project, collection.caches)
    items = np.array(project.images.table().ids[-4:], dtype=np.int64)
    assert (folds.of(items) < 0).all()
    together = folds.held_together(items)
    assert (together >= 0).all()
    assert len(set(together.tolist())) == 1


@pytest.mark.slow
def test_boxes_and_empty_images_are_found_by_a_search(boxed: LiveCollection) -> None:
    photo, first, second = boxed.state.image_ids[-3:].tolist()
    boxed.apply(boxed.project.labels.set([first], EMPTY))
    assert found(boxed, "has:box") == {first, second}
    assert found(boxed, "has:boxes") == {photo}
    assert found(boxed, "empty") == {first}
    assert photo not in found(boxed, "labelled")


def found(live: LiveCollection, text: str) -> set[int]:
    return set(live.metadata.search(text, live.state, live.project.classes.graph).tolist())
