import numpy as np

from research.transfer.peers import logistic_regression
from tests.support.transfer import clusters


def test_every_option_is_there() -> None:
    """With and without standardising, each with its strengths."""
    task, _ = clusters(ways=3, shots=2)
    names = logistic_regression.predict(task)
    assert len(names) == 8
    assert "plain, C = 100" in names
    assert "standardised, C = 0.1" in names


def test_fewer_coordinates_give_the_same_fit() -> None:
    """Inner products in the span of the shots are equal, and so are the predictions."""
    task, _ = clusters(ways=4, shots=2, noise=1.2, seed=1)
    smaller = logistic_regression.spanned(task)
    assert smaller.support.shape == (8, 8)
    np.testing.assert_allclose(
        smaller.queries @ smaller.support.T, task.queries @ task.support.T, rtol=1e-4
    )
    same = logistic_regression.fitted(task, 10.0) == logistic_regression.fitted(smaller, 10.0)
    assert same.mean() > 0.98


def test_many_shots_stay_as_they_are() -> None:
    """More shots than features span everything."""
    task, _ = clusters(ways=4, shots=10)
    assert logistic_regression.spanned(task) is task
