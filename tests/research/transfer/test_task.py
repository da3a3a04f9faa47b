import numpy as np

from research.transfer.task import FewShotTask, centred, softmax, squared_distances, unit_rows


def test_prototypes_are_class_means() -> None:
    """In the order of the classes, whatever the order of shots."""
    support = np.array([[4, 0], [0, 2], [2, 0]], dtype=np.float32)
    task = FewShotTask(support, np.array([1, 0, 1]), support, 2)
    assert task.prototypes().tolist() == [[0, 2], [3, 0]]


def test_centred_by_the_whole_task() -> None:
    """The mean of shots and queries together is subtracted; rows get length 1."""
    task = FewShotTask(
        np.array([[1, 0]], dtype=np.float32),
        np.array([0]),
        np.array([[5, 0], [3, 6]], dtype=np.float32),
        1,
    )
    found = centred(task)
    np.testing.assert_allclose(found.support, unit_rows(np.array([[-2, -2]], dtype=np.float32)))
    np.testing.assert_allclose(found.queries[1], [0, 1])


def test_distances_and_probabilities() -> None:
    """By hand; rounding never makes a distance negative."""
    left = np.array([[0, 3]], dtype=np.float32)
    right = np.array([[4, 0], [0, 3]], dtype=np.float32)
    assert squared_distances(left, right).tolist() == [[25, 0]]
    np.testing.assert_allclose(
        softmax(np.array([[0, np.log(3)]], dtype=np.float32)), [[0.25, 0.75]], rtol=1e-6
    )
    assert unit_rows(np.zeros((1, 2), dtype=np.float32)).tolist() == [[0, 0]]
