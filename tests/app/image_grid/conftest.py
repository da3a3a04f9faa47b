"""A grid over states made by hand, with thumbnails that find no file."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.image_grid.logic import Order
from app.image_grid.model import ImageGridModel
from app.image_grid.thumbnails import Thumbnails
from app.image_grid.view import ImageGrid
from tests.support.collections import cache_of_test


@pytest.fixture
def thumbnails(own_settings_and_caches: None, qapp: object) -> Iterator[Thumbnails]:
    """Real thumbnails, ended with the test."""
    thumbnails = Thumbnails(cache_of_test())
    yield thumbnails
    thumbnails.stop()


@pytest.fixture
def model(qapp: object) -> ImageGridModel:
    """Cards in the order in which they were added; classes are called by their number."""
    model = ImageGridModel(lambda class_id: f"class {class_id}")
    model.set_order(Order.ADDED)
    return model


@pytest.fixture
def grid(qtbot: QtBot, model: ImageGridModel, thumbnails: Thumbnails) -> ImageGrid:
    """A grid on the screen, three cards wide."""
    grid = ImageGrid(model, thumbnails)
    qtbot.addWidget(grid)
    grid.resize(600, 700)
    grid.show()
    assert grid._geometry().columns == 3
    return grid
