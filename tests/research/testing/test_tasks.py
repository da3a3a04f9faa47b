"""Drawing test tasks."""

import numpy as np
import pytest

from engine.errors import InputError
from research.testing.tasks import Tasks, draw_tasks

IMAGES = {3: np.arange(0, 20), 5: np.arange(20, 40), 8: np.arange(40, 58), 9: np.arange(58, 60)}


def draw(**changes: int) -> Tasks:
    """40 tasks, 2-way 3-shot, by default; class 9 never has enough images."""
    return draw_tasks(IMAGES, **{"ways": 2, "shots": 3, "count": 40, **changes})


def test_classes_and_images_belong_together() -> None:
    """Classes of a task differ, and its images are of its classes, each at most once."""
    tasks = draw()
    assert tasks.support.shape == (40, 2, 3)
    assert tasks.queries.shape == (40, 2, 15)
    assert set(tasks.classes.ravel().tolist()) == {3, 5, 8}
    for classes, support, queries in zip(tasks.classes, tasks.support, tasks.queries, strict=True):
        assert classes[0] < classes[1]
        for place, position in enumerate(classes.tolist()):
            images = np.concatenate([support[place], queries[place]])
            assert np.isin(images, IMAGES[position]).all()
            assert len(np.unique(images)) == len(images)


def test_same_seed_same_tasks() -> None:
    """Comparisons are paired; another seed gives other tasks."""
    first, again, other = draw(), draw(), draw(seed=7)
    assert (first.support == again.support).all()
    assert (first.queries == again.queries).all()
    assert (first.queries != other.queries).any()


def test_more_tasks_begin_with_the_same() -> None:
    """The classes of the first tasks do not depend on the count."""
    assert (draw(count=5).classes == draw(count=40).classes[:5]).all()


def test_accuracies() -> None:
    """Queries are ordered by class: two correct of three and one of three."""
    classes = np.array([[3, 5, 8], [3, 5, 8]])
    tasks = Tasks(classes, np.zeros((2, 3, 1), dtype=np.int64), np.zeros((2, 3, 1), dtype=np.int64))
    assert tasks.targets.tolist() == [0, 1, 2]
    assert tasks.accuracies(np.array([[0, 1, 1], [2, 2, 2]])).tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )


@pytest.mark.parametrize(
    ("ways", "shots", "found"), [(4, 1, "3 of 4"), (3, 5, "2 of 4"), (2, 6, "0 of 4")]
)
def test_too_few_images(ways: int, shots: int, found: str) -> None:
    """Classes without enough images are left out; too few others are an error."""
    with pytest.raises(
        InputError, match=f"{ways} classes with {shots + 15} images each.*found {found}"
    ):
        draw(ways=ways, shots=shots)
