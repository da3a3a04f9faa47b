"""A pane for the inspector's pages."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.images.thumbnails import Thumbnails
from tests.support.inspector_pane import Pane


@pytest.fixture
def pane(qtbot: QtBot, qapp: QApplication, thumbnails: Thumbnails) -> Pane:
    """An empty pane."""
    return Pane(qtbot, qapp, thumbnails)
