"""Images of people are hidden from all views while the setting is on."""

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.fitting import run_fit
from engine.collection.hidden_images import PRIVATE, hide_categories
from engine.collection.live import LiveCollection
from engine.collection.review_groups import ReviewMemory, make_queue
from engine.evaluation.audit.draw import population_of
from engine.files import FoundFile
from engine.project.records import NewItem
from engine.review.label_check import label_check_input
from tests.support.collections import Collection


@pytest.fixture
def with_person(live: LiveCollection, collection: Collection) -> tuple[LiveCollection, list[int]]:
    """A labelled and an unlabelled photo in which a detector found a person; and all images."""
    state, images = live.state, live.project.images
    ids = [
        int(state.image_ids[np.flatnonzero(which)[0]])
        for which in (state.is_labelled, state.is_unlabelled)
    ]
    files = [FoundFile.at(state.path_of(each)) for each in ids]
    boxes = [
        NewItem(file, "xywh=percent:5,5,50,50", "person", 0.9) for file in files if file is not None
    ]
    change = images.add_labelled(boxes, [None, None])
    live.apply(change)
    embed_project(live.project, collection.caches, device="cpu", with_views=True)
    live.take_embedded(list(change.images_added))
    live.prepare_review_groups(is_wanted=True)
    live.adopt(run_fit(live.fit_input()))
    return live, [*ids, *change.images_added]


def shown(live: LiveCollection) -> dict[str, set[int]]:
    """Images of each view."""
    given = live.group_input(ReviewMemory())
    assert given is not None
    groups = make_queue(given, ahead=99).groups
    state = live.state
    return {
        "groups": {each for group in groups for each in group.image_ids},
        "label check": set(label_check_input(live).images.image_ids.tolist()),
        "audit": set(state.image_ids[population_of(state)].tolist()),
        "pictures": {
            each for each in state.image_ids.tolist() if state.visible_source_of(each) is not None
        },
    }


@pytest.mark.slow
def test_no_view_shows_a_hidden_picture(with_person: tuple[LiveCollection, list[int]]) -> None:
    live, ids = with_person
    before = shown(live)
    assert set(ids[2:]) <= before["groups"] & before["audit"]
    assert set(ids) <= before["label check"] & before["pictures"]
    live.apply(hide_categories(live.project, PRIVATE))
    assert set(ids) == live.state.hidden
    hidden = shown(live)
    assert all(not images & live.state.hidden for images in hidden.values())
    live.apply(hide_categories(live.project, ()))
    assert shown(live) == before


def test_an_image_that_left_has_no_picture(live: LiveCollection) -> None:
    assert live.state.visible_source_of(99_999) is None
