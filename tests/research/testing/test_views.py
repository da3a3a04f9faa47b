"""Augmented views of an image, by a backbone that returns its upper left corner."""

import numpy as np
import pytest
import torch

from engine.training.loop import Objective, embedder
from engine.training.settings import TrainingSettings
from research.testing.views import VIEWS, views_embedder
from tests.support.category_graphs import CornerBackbone


class Corners(Objective):
    """Nothing is trained."""

    draw = loss = None  # type: ignore[assignment]


Corners.__abstractmethods__ = frozenset()


def test_views_of_one_colour_are_all_the_same() -> None:
    """Views of a uniform image have its embedding."""
    pixels = np.broadcast_to(
        np.arange(0, 240, 3, dtype=np.uint8)[:, None, None, None], (80, 8, 8, 3)
    )
    objective = Corners(CornerBackbone()).eval()
    wanted = np.array([70, 3, 3, *range(60)])
    views = views_embedder(objective, pixels, TrainingSettings(side=4))(wanted)
    assert views.shape == (63, 2)
    torch.testing.assert_close(views, embedder(objective, pixels, 4)(wanted))


def test_views_differ_where_windows_do() -> None:
    """Views of a half black, half white image are either, and the mean is between."""
    pixels = np.zeros((20, 8, 8, 3), dtype=np.uint8)
    pixels[:, :, 4:] = 255
    objective = Corners(CornerBackbone()).eval()
    embed = views_embedder(objective, pixels, TrainingSettings(side=4))
    found, again = embed(np.arange(20)), embed(np.arange(20))
    assert torch.equal(found, again)
    black, white = (-0.485 / 0.229, (1 - 0.485) / 0.229)
    shares = ((found[:, 0] - black) / (white - black) * VIEWS).numpy()
    assert shares == pytest.approx(shares.round(), abs=1e-4)
    assert len(set(shares.round().tolist())) > 1
