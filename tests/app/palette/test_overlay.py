"""The height of scrolling cards."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.controls import fill_column, make_button, make_flowing_label
from app.palette.overlay import ScrollingCard

WIDTH = 300
BUTTONS = 5


@pytest.fixture
def card(qtbot: QtBot) -> ScrollingCard:
    """A card over a window, with some buttons and a text that wraps."""
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(600, 800)
    made = ScrollingCard(host, WIDTH, "Title")
    buttons = [make_button(f"Button {number}", made.dismiss) for number in range(BUTTONS)]
    fill_column(made.body, *buttons, make_flowing_label("A text that wraps"))
    host.show()
    made.show_over()
    return made


def test_a_card_is_as_high_without_texts_that_wrap(card: ScrollingCard) -> None:
    """The buttons still fit."""
    before = card.wanted_height(WIDTH)
    *buttons, text = card.body.findChildren(QWidget)
    text.hide()
    after = card.wanted_height(WIDTH)
    assert before > after > sum(button.sizeHint().height() for button in buttons)
