"""A project that takes a while to open says what it is at, and its cards claim nothing meanwhile."""

from pytestqt.qtbot import QtBot

from app.session import Session
from app.status.opening_mark import OpeningMark
from tests.support.collections import Collection
from tests.support.sessions import open_project


def test_it_says_what_is_done_until_predictions_are_there(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Reading, with the count; then nothing. Later changes are not an opening."""
    mark = OpeningMark(session)
    qtbot.addWidget(mark)
    said: list[str] = []
    session.state_changed.connect(lambda _state: said.append(mark.text() if not mark.isHidden() else ""))
    open_project(qtbot, session, collection.project)
    assert said[0] == "Reading 64 embeddings…"
    assert set(said[1:]) <= {"Classifying…"}
    assert mark.isHidden()
