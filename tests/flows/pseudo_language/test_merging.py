"""The merge card, the page of conflicts and its summary in the pseudo-language."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.merging.controller import Merging
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.disputes import disputed_copy
from tests.support.pseudo_reader import Reader
from tests.support.sessions import settle


@pytest.fixture
def from_ben(reviewing: Desk, collection: Collection) -> Path:
    """Ben's copy with some other labels."""
    return disputed_copy(reviewing, collection)


@pytest.mark.slow
def test_a_merge(reviewing: Desk, reader: Reader, from_ben: Path) -> None:
    """The preview; conflicts of classes, of levels and of comments; the summary."""
    desk, merging = reviewing, reviewing.window.of(Merging)
    desk.window.registry.trigger("merge_copy")
    reader.read("merge-start")
    merging.read(from_ben)
    desk.wait(lambda: merging.card is not None and merging.card.survey is not None)
    assert merging.card is not None
    reader.read("merge-card")
    for section in (merging.card.agreement, merging.card.conflicts):
        reader.read_table(f"merge-card, {section.table.accessibleName()}", section.table, 0)
    merging.card.import_button.click()
    desk.wait(lambda: merging.page is not None and merging.page.isVisible())
    page = merging.page
    assert page is not None
    for place in range(11):
        if place in {0, 9, 10}:
            settle(desk.qtbot, desk.window.session)
            desk.wait(lambda: page.dispute is not None and desk.inspected == page.dispute.image_id)
            reader.read(f"merge-conflict-{place}")
        desk.press(Qt.Key.Key_E)
    assert page.is_at_end
    reader.read("merge-end")
