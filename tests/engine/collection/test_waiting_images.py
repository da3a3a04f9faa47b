"""The order in which images are embedded."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.collection.live import LiveCollection
from engine.embedding.messages import EmbedImages
from engine.project import Project
from engine.requests import images_to_embed
from tests.support.collections import cache_of_test
from tests.support.unread import UNREAD_IMAGES, unread_collection


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveCollection]:
    """A dozen pending images; 2, 3, 4 and 9 are labelled."""
    unread = unread_collection(tmp_path, cache_of_test())
    with Project.open(unread.project) as project:
        project.labels.remove((1,))
        project.labels.set((9,), project.classes.graph.find("Red disc"))
    with closing(LiveCollection.open(unread.project, unread.caches, for_writing=False)) as live:
        live.load_list()
        yield live


def ids_of(request: EmbedImages | None) -> list[int]:
    """The images of a request, in order."""
    assert request is not None
    return [image.image_id for image in request.images]


@pytest.mark.parametrize(
    ("in_view", "asked", "expected"),
    [
        ((), (), [2, 3, 4, 9, 1, 5]),
        ((12, 7), (), [7, 12, 2, 3, 4, 9]),
        ((9, 1), (2, 3), [9, 1, 4, 5, 6, 7]),
        ((5, 99), (5, 7), [2, 3, 4, 9, 1, 6]),
    ],
    ids=[
        "labelled first",
        "in view before all",
        "what was requested is not requested again",
        "in view and done",
    ],
)
def test_what_is_looked_at_comes_first_then_labels_then_the_rest(
    live: LiveCollection, in_view: tuple[int, ...], asked: tuple[int, ...], expected: list[int]
) -> None:
    """Visible images first, then labelled ones, then the rest."""
    request = images_to_embed(
        live, cache_of_test(), "cpu", in_view=in_view, asked=asked, most=len(expected)
    )
    assert ids_of(request) == expected
    assert request is not None
    assert (request.done_before, request.total) == (len(asked), UNREAD_IMAGES)


def test_an_end_is_reached(live: LiveCollection) -> None:
    """Requests end when every image was requested."""
    everything = ids_of(images_to_embed(live, cache_of_test(), "cpu"))
    assert sorted(everything) == list(range(1, UNREAD_IMAGES + 1))
    assert images_to_embed(live, cache_of_test(), "cpu", asked=everything) is None
