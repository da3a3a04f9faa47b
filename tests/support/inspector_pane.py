"""A pane for the inspector's pages, with facts of tests."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controls import make_scroll_area
from app.images.thumbnails import Thumbnails
from app.inspector.class_page import ClassPage
from app.inspector.image_page import ImagePage
from app.inspector.logic import ClassPageFacts, ImageFacts
from app.inspector.page import PageRequests
from app.settings import Settings
from app.theme import apply_theme
from tests.support.graphs import graph_of
from tests.support.sessions import LONG_MS
from tests.support.states import Picture, state_of


class Pane:
    """A pane for the inspector's pages."""

    def __init__(self, qtbot: QtBot, qapp: QApplication, thumbnails: Thumbnails) -> None:
        apply_theme(qapp)
        self.area = make_scroll_area()
        self.area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._thumbnails = thumbnails
        self.requests, self.settings = PageRequests(), Settings()
        self._state = state_of([Picture()] * 5)
        qtbot.addWidget(self.area)
        self.area.resize(336, 800)
        self.area.show()
        qtbot.waitExposed(self.area, timeout=LONG_MS)

    def show_image(self, facts: ImageFacts) -> ImagePage:
        """Show an image on the page of images."""
        page = self.area.widget()
        if not isinstance(page, ImagePage):
            page = ImagePage(self._thumbnails, self.requests, self.settings)
            self.area.setWidget(page)
        page.show_facts(facts, graph_of({facts.tops[0].name: []}), self._state)
        QApplication.processEvents()
        return page

    def show_class(self, facts: ClassPageFacts, *, is_writable: bool = True) -> ClassPage:
        """Show a class on a page."""
        page = ClassPage(
            facts,
            self._state,
            self._thumbnails,
            self.requests,
            self.settings,
            is_writable=is_writable,
        )
        self.area.setWidget(page)
        QApplication.processEvents()
        return page

    def show(self, facts: ImageFacts | ClassPageFacts) -> ImagePage | ClassPage:
        """Show an image or a class."""
        return self.show_image(facts) if isinstance(facts, ImageFacts) else self.show_class(facts)
