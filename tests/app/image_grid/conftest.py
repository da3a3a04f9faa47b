"""A grid over hand-made states, with thumbnails that find no file."""

import pytest
from pytestqt.qtbot import QtBot

from app.image_grid.card_words import CardWords
from app.image_grid.held_order import Order
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from app.images.thumbnails import Thumbnails


@pytest.fixture
def model(qapp: object) -> ImageGridModel:
    """Cards in the order added; classes are named by their number."""
    model = ImageGridModel(CardWords(lambda class_id: f"class {class_id}"))
    model.set_order(Order.ADDED)
    return model


@pytest.fixture
def grid(qtbot: QtBot, model: ImageGridModel, thumbnails: Thumbnails) -> ImageGrid:
    """A visible grid, three cards wide, whose order is held."""
    model.is_held = True
    grid = ImageGrid(model, thumbnails)
    qtbot.addWidget(grid)
    grid.resize(600, 700)
    grid.show()
    assert grid._geometry().columns == 3  # noqa: SLF001 (the geometry has its own tests)
    return grid
