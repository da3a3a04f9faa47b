import numpy as np
import pytest

from engine.errors import InputError
from engine.training.training_set import (
    ClassArrays,
    EpisodeSettings,
    ImageShares,
    draw_episode,
    share_out,
    split_leaves,
)

# 0 is above 1 and 2; 3 to 8 are leaves: 3, 4, 5 below 1, 6, 7, 8 below 2, and 5 below 2 as well.
EDGES = np.array([[0, 0, 1, 1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8, 5]])
SETTINGS = EpisodeSettings(ways=2, shots=2, queries=3)


def _labels(images_per_class: int = 20) -> np.ndarray:
    return np.repeat(np.arange(9), images_per_class)


def _shares(settings: EpisodeSettings = SETTINGS) -> tuple[ClassArrays, ImageShares]:
    hierarchy = ClassArrays(EDGES, 9)
    return hierarchy, share_out(hierarchy, _labels(), settings, np.random.default_rng(0))


def test_a_level_is_the_longest_path_from_a_root() -> None:
    """A class linked both to the root and to the root's child lies below both."""
    hierarchy = ClassArrays(np.array([[0, 1, 0], [1, 2, 2]]), 4)
    assert hierarchy.levels.tolist() == [0, 1, 2, 0]
    assert hierarchy.is_leaf.tolist() == [False, False, True, True]
    assert hierarchy.ancestors(2).tolist() == [0, 1]
    assert hierarchy.descendants(0).tolist() == [1, 2]


def test_every_image_plays_exactly_one_part() -> None:
    """No query is ever seen in a prototype."""
    _, shares = _shares()
    parts = [
        images
        for group in (shares.few_shot, shares.coarse, shares.coarse_queries)
        for images in group
    ]
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(_labels())))


def test_a_share_of_each_leaf_s_images_keeps_a_coarse_label_only() -> None:
    """Half of 20 stay with the leaf; the others go to its ancestors and nowhere else."""
    hierarchy, shares = _shares()
    labels = _labels()
    assert [len(images) for images in shares.few_shot] == [0, 0, 0, *[10] * 6]
    for place in range(3):
        allowed = {place, *hierarchy.descendants(place).tolist()}
        held = np.concatenate([shares.coarse[place], shares.coarse_queries[place]])
        assert set(labels[held].tolist()) <= allowed
    assert all(len(images) == 0 for images in shares.coarse[3:])


def test_leaves_are_split_into_three_parts() -> None:
    """Each leaf is in one part, at least two in each."""
    _, shares = _shares()
    split = split_leaves(shares, SETTINGS, np.random.default_rng(0))
    parts = [split.training, split.validation, split.held_out]
    assert sorted(np.concatenate(parts).tolist()) == [3, 4, 5, 6, 7, 8]
    assert [len(part) for part in parts] == [2, 2, 2]


def test_too_few_images_are_refused_with_numbers() -> None:
    """A person learns how many classes and images it takes.

    Of 21, 10 are given away, and 11 = 2 + 9 stay.
    """
    settings = EpisodeSettings(shots=2, queries=9)
    hierarchy = ClassArrays(EDGES, 9)
    shares = share_out(hierarchy, _labels(), settings, np.random.default_rng(0))
    with pytest.raises(
        InputError, match="at least 6 leaf classes with 21 labelled images each, found 0"
    ):
        split_leaves(shares, settings, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(8))
def test_an_episode_is_a_subgraph_with_its_tasks(seed: int) -> None:
    """Few-shot classes with all ancestors and all edges among them.

    Support and queries are distinct and labelled.
    """
    hierarchy, shares = _shares()
    leaves = np.arange(3, 9)
    episode = draw_episode(hierarchy, shares, leaves, SETTINGS, np.random.default_rng(seed))
    fine = [place for place in episode.classes.tolist() if place >= 3]
    assert len(fine) == 2
    above = {ancestor for place in fine for ancestor in hierarchy.ancestors(place).tolist()}
    assert set(episode.classes.tolist()) == {*fine, *above}
    expected = [pair for pair in EDGES.T.tolist() if pair[1] in episode.classes]
    assert episode.classes[episode.edge_index].T.tolist() == expected
    labels = _labels()
    assert (
        labels[episode.support_images].tolist() == episode.classes[episode.support_places].tolist()
    )
    few_shot = episode.tasks[0]
    assert (
        labels[few_shot.images].tolist()
        == episode.classes[few_shot.candidates][few_shot.targets].tolist()
    )
    assert len(few_shot.images) == 6
    assert len({*few_shot.images.tolist(), *episode.support_images.tolist()}) == 6 + 4


def test_coarse_classes_of_a_level_are_a_task_of_their_own() -> None:
    """Leaves 3 and 6 bring both classes of level 1; the root alone on its level is no task."""
    hierarchy, shares = _shares()
    episode = draw_episode(hierarchy, shares, np.array([3, 6]), SETTINGS, np.random.default_rng(0))
    assert [task.is_coarse for task in episode.tasks] == [False, True]
    coarse = episode.tasks[1]
    assert episode.classes[coarse.candidates].tolist() == [1, 2]
    for image, target in zip(coarse.images, coarse.targets, strict=True):
        assert image in shares.coarse_queries[1 + target]
