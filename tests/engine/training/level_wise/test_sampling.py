from dataclasses import replace

import numpy as np
import pytest

from engine.errors import InputError
from engine.texts import translate_with
from engine.training.level_wise import EpisodeShape, LevelWiseDraw, LevelWiseSampler, edges_between
from tests.support.category_graphs import two_branches
from tests.support.few_shot_problems import FIRST_LEAF, IMAGES_OF_A_CLASS, colour_training_set

COLOURS = colour_training_set()
"""2 classes on level 3, 4 on level 4 below them, 12 few-shot classes on level 5; 12 images each."""


def draws(
    shape: EpisodeShape, count: int = 20, *, coarse_levels: bool = True
) -> list[LevelWiseDraw]:
    """Some iterations over the coloured classes."""
    sampler = LevelWiseSampler(COLOURS, shape, coarse_levels=coarse_levels)
    generator = np.random.default_rng(0)
    return [sampler.draw(generator) for _ in range(count)]


def test_classes_and_images_without_replacement() -> None:
    """No class twice in a task, no image twice in an iteration, supports apart from queries."""
    for draw in draws(EpisodeShape(5, 3, queries=4)):
        assert len(np.unique(draw.images)) == len(draw.images)
        rows = [part for task in draw.tasks for part in (task.support.ravel(), task.queries)]
        assert sorted(np.concatenate(rows).tolist()) == list(range(len(draw.images)))
        for task in draw.tasks:
            assert len(np.unique(task.classes)) == len(task.classes)


def test_few_shot_task() -> None:
    """N classes with k support and q query images each, all of the classes they are marked with."""
    for draw in draws(EpisodeShape(5, 3, queries=4)):
        task = draw.few_shot_task
        assert (task.level, len(task.classes), task.support.shape, len(task.queries)) == (
            5,
            5,
            (5, 3),
            20,
        )
        of_images = COLOURS.class_positions[draw.images]
        assert (of_images[task.support] == task.classes[:, None]).all()
        assert (of_images[task.queries] == task.classes[task.targets]).all()
        assert (task.classes >= FIRST_LEAF).all()


def test_as_many_queries_as_shots() -> None:
    """As in the authors' code, unless asked otherwise."""
    task = draws(EpisodeShape(5, 3), 1)[0].few_shot_task
    assert np.bincount(task.targets).tolist() == [3] * 5


def test_every_few_shot_class_comes_up() -> None:
    """Sixty draws of three out of twelve miss none."""
    seen = {
        position
        for draw in draws(EpisodeShape(3, 1), 60)
        for position in draw.few_shot_task.classes.tolist()
    }
    assert seen == set(COLOURS.few_shot.tolist())


def test_subgraph_holds_all_ancestors() -> None:
    """The chosen classes with everything above them, ascending, and all edges between those."""
    for draw in draws(EpisodeShape(3, 1)):
        chosen = set(draw.few_shot_task.classes.tolist())
        above = set().union(*(COLOURS.ancestors[position] for position in chosen))
        assert draw.classes.tolist() == sorted(chosen | above)
        pairs = {
            (draw.classes[parent], draw.classes[child])
            for parent, child in draw.edge_index.T.tolist()
        }
        assert pairs == {
            (parent, child)
            for parent, child in COLOURS.edge_index.T.tolist()
            if child in chosen | above
        }


def test_levels_come_finest_first() -> None:
    """A task's classes are all of the subgraph's on its level.

    Levels with one class are left out.
    """
    lengths = set()
    for draw in draws(EpisodeShape(2, 1), 60):
        levels = [task.level for task in draw.tasks]
        of_classes = COLOURS.levels[draw.classes]
        assert levels == [level for level in (5, 4, 3) if (of_classes == level).sum() > 1]
        for task in draw.tasks:
            assert task.classes.tolist() == draw.classes[of_classes == task.level].tolist()
        assert len(draw.images) == sum(task.support.size + len(task.queries) for task in draw.tasks)
        lengths.add(len(levels))
    assert lengths == {1, 2, 3}


def test_siblings_leave_their_lone_parent_without_a_task() -> None:
    """The parent still propagates: it is on the subgraph."""
    draw = LevelWiseSampler(two_branches((9, 9, 2, 2, 0, 0)), EpisodeShape(2, 1)).draw(
        np.random.default_rng(0)
    )
    assert [task.classes.tolist() for task in draw.tasks] == [[2, 3]]
    assert draw.classes.tolist() == [0, 2, 3]
    assert draw.edge_index.tolist() == [[0, 0], [1, 2]]
    assert len(draw.images) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "expected"), [(10, 10), (100, IMAGES_OF_A_CLASS), (1, 1)])
def test_images_of_coarse_classes(limit: int, expected: int) -> None:
    """At most so many of each, all of them queries, and fewer where a class has fewer."""
    for draw in draws(EpisodeShape(8, 1, coarse_images=limit), 5):
        for task in draw.tasks[1:]:
            assert task.support.shape == (len(task.classes), 0)
            assert np.bincount(task.targets).tolist() == [expected] * len(task.classes)
            assert (
                COLOURS.class_positions[draw.images[task.queries]] == task.classes[task.targets]
            ).all()


def test_support_of_coarse_classes() -> None:
    """For baselines: a part of a coarse class's images is its support."""
    for draw in draws(EpisodeShape(8, 1, coarse_images=10, coarse_shots=3), 5):
        for task in draw.tasks[1:]:
            assert task.support.shape == (len(task.classes), 3)
            assert (
                COLOURS.class_positions[draw.images[task.support]] == task.classes[:, None]
            ).all()
            assert np.bincount(task.targets).tolist() == [7] * len(task.classes)


def test_coarse_classes_without_enough_images_are_no_candidates() -> None:
    """A class that could only give support, or nothing, takes no part in its level's task."""
    training_set = replace(colour_training_set(), few_shot=np.arange(6, 18))
    kept = np.flatnonzero(training_set.class_positions != 3)
    training_set = replace(
        training_set,
        pixels=training_set.pixels[kept],
        class_positions=training_set.class_positions[kept],
    )
    draw = LevelWiseSampler(training_set, EpisodeShape(12, 1)).draw(np.random.default_rng(0))
    assert [task.classes.tolist() for task in draw.tasks] == [list(range(6, 18)), [2, 4, 5], [0, 1]]
    assert 3 in draw.classes


def test_without_coarse_levels() -> None:
    """Plain few-shot episodes: one task, and only its images."""
    for draw in draws(EpisodeShape(5, 2), 3, coarse_levels=False):
        assert len(draw.tasks) == 1
        assert len(draw.images) == 20


def test_same_generator_same_draw() -> None:
    """A draw depends on the generator alone, not on draws before."""
    sampler = LevelWiseSampler(COLOURS, EpisodeShape(5, 2))
    first, other, again = (sampler.draw(np.random.default_rng(seed)) for seed in (1, 2, 1))
    assert first.images.tolist() == again.images.tolist()
    assert [task.targets.tolist() for task in first.tasks] == [
        task.targets.tolist() for task in again.tasks
    ]
    assert first.images.tolist() != other.images.tolist()


def test_edges_between() -> None:
    """Edges that leave the chosen classes go.

    The others speak of places in the choice, whatever its order.
    """
    edge_index = np.array([[0, 0, 1, 4], [2, 3, 3, 3]])
    assert edges_between(edge_index, np.array([3, 0, 4]), 5).tolist() == [[1, 2], [0, 0]]
    assert edges_between(edge_index, np.array([1]), 5).shape == (2, 0)


def test_too_few_images() -> None:
    """The error counts the classes that suffice and names one that does not."""
    with pytest.raises(
        InputError,
        match=r"too few classes have enough images for 3-way 2-shot training: "
        r"expected at least 3 few-shot classes "
        r"with 4 images each, found 2 of 4; “dog” has 3\. Label more images",
    ):
        LevelWiseSampler(two_branches((9, 9, 4, 3, 4, 3)), EpisodeShape(3, 2))


def test_classes_with_too_few_images_are_never_drawn() -> None:
    """Where enough others suffice, a scarce class is passed over."""
    sampler = LevelWiseSampler(two_branches((9, 9, 4, 3, 4, 4)), EpisodeShape(2, 2))
    generator = np.random.default_rng(0)
    assert {
        c for _ in range(30) for c in sampler.draw(generator).few_shot_task.classes.tolist()
    } == {2, 4, 5}


def test_one_way_is_no_task() -> None:
    """With one class there is nothing to tell apart."""
    with pytest.raises(InputError, match="at least 2 few-shot classes"):
        LevelWiseSampler(COLOURS, EpisodeShape(1, 1))


def test_a_class_without_parents() -> None:
    """Nothing is propagated to it, and it is drawn like any other.

    Alone beside a tree, or in a flat list.
    """
    beside_a_tree = LevelWiseSampler(
        two_branches(pairs=((0, 2), (0, 3), (1, 4))), EpisodeShape(4, 1)
    )
    draw = beside_a_tree.draw(np.random.default_rng(0))
    assert [task.classes.tolist() for task in draw.tasks] == [[2, 3, 4, 5], [0, 1]]
    flat = LevelWiseSampler(two_branches((0, 0, 2, 2, 2, 2), pairs=()), EpisodeShape(4, 1))
    draw = flat.draw(np.random.default_rng(0))
    assert [task.classes.tolist() for task in draw.tasks] == [[2, 3, 4, 5]]
    assert (draw.classes.tolist(), draw.edge_index.shape) == ([2, 3, 4, 5], (2, 0))


def test_the_only_coarse_class_of_a_level_competes_with_the_few_shot_classes_beside_it() -> None:
    """So its own labels are learned from though no other coarse class is at the top level."""
    training_set = replace(
        two_branches((3, 0, 4, 4, 4, 4), pairs=((0, 2), (0, 3))),
        levels=np.array([0, 0, 1, 1, 0, 0]),
    )
    draw = LevelWiseSampler(training_set, EpisodeShape(4, 1, queries=2)).draw(
        np.random.default_rng(0)
    )
    few_shot, coarse = draw.tasks
    assert (coarse.level, coarse.classes.tolist(), coarse.support.shape) == (0, [0, 4, 5], (3, 0))
    assert (
        training_set.class_positions[draw.images[coarse.queries]] == coarse.classes[coarse.targets]
    ).all()
    assert np.bincount(coarse.targets).tolist() == [3, 2, 2]
    assert set(coarse.queries[coarse.targets > 0].tolist()) <= set(few_shot.queries.tolist())
    assert len(draw.images) == 4 * 3 + 3


@pytest.mark.parametrize(
    ("shape", "of"),
    [
        (EpisodeShape(2, 1, queries=0), "few-shot"),
        (EpisodeShape(2, 1, coarse_images=0), "coarse"),
        (EpisodeShape(2, 1, coarse_images=3, coarse_shots=3), "coarse"),
    ],
)
def test_nothing_to_classify(shape: EpisodeShape, of: str) -> None:
    """A shape that leaves no queries is refused: the loss of no images is not a number."""
    with pytest.raises(
        InputError, match=f"no image of a {of} class to classify: expected at least 1, found 0"
    ) as raised:
        LevelWiseSampler(COLOURS, shape)
    whole = f"an iteration leaves no image of a {of} class to classify"
    translate_with(lambda text, _count: "kein Bild" if text == whole else "")
    try:
        assert raised.value.translated().startswith("kein Bild: ")
    finally:
        translate_with(None)
