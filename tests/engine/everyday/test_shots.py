import numpy as np

from engine.everyday.shots import Shots, membership, reached_classes
from engine.graph.category_graph import CategoryGraph
from tests.support.everyday import WIDTH, no_shots
from tests.support.graphs import big_graph, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def _labelled(*class_ids: int) -> Shots:
    count = len(class_ids)
    return Shots(
        np.arange(count), np.array(class_ids, dtype=np.int64), np.ones((count, WIDTH), np.float32)
    )


def _members(graph: CategoryGraph, shots: Shots) -> dict[int, list[int]]:
    """Image positions of every class, by class id."""
    class_ids = tuple(graph.classes())
    pairs = membership(graph, class_ids, shots)
    members: dict[int, list[int]] = {class_id: [] for class_id in class_ids}
    for image, place in zip(
        pairs.image_positions.tolist(), pairs.class_positions.tolist(), strict=True
    ):
        members[class_ids[place]].append(image)
    return members


def test_counts_only_name_classes_with_shots() -> None:
    """Two gulls and a kelp."""
    assert _labelled(GULL, KELP, GULL).counts() == {GULL: 2, KELP: 1}
    assert no_shots().counts() == {}


def test_a_labelled_class_reaches_its_ancestors_and_their_children() -> None:
    """A gull's ancestors are Bird and Animal; their children and its own may be zero-shot.

    The rest is left out.
    """
    assert reached_classes(seaside_graph(), [GULL]) == (
        ANIMAL,
        BIRD,
        DIVER,
        GULL,
        PUFFIN,
        HERRING_GULL,
    )


def test_nothing_labelled_reaches_nothing() -> None:
    """However large the graph."""
    assert reached_classes(big_graph(200), []) == ()


def test_a_class_takes_its_own_images_and_not_its_descendants() -> None:
    """Bird has an image of its own, so the gull is not its; Animal has none and takes both."""
    members = _members(seaside_graph(), _labelled(BIRD, GULL))
    assert members[BIRD] == [0]
    assert members[GULL] == [1]
    assert members[ANIMAL] == [0, 1]


def test_an_image_below_on_two_paths_counts_once() -> None:
    """Animal reaches Puffin by Bird and by Diver."""
    members = _members(seaside_graph(), _labelled(PUFFIN, SEAL))
    assert members[ANIMAL] == [0, 1]
    assert members[BIRD] == [0]
    assert members[DIVER] == [0, 1]


def test_classes_without_images_below_have_no_members() -> None:
    """A label teaches neither the classes below it nor other branches."""
    members = _members(seaside_graph(), _labelled(GULL))
    assert [class_id for class_id, images in members.items() if images] == [ANIMAL, BIRD, GULL]


def test_membership_of_a_random_graph_follows_its_definition() -> None:
    """Own images, else the distinct images of all descendants, with many double parents."""
    graph = big_graph(150, seed=4)
    labels = np.random.default_rng(0).integers(1, 151, size=60).tolist()
    for class_id, images in _members(graph, _labelled(*labels)).items():
        own = [position for position, label in enumerate(labels) if label == class_id]
        below = [
            position
            for position, label in enumerate(labels)
            if label in graph.descendants(class_id)
        ]
        assert sorted(images) == (own or below)
