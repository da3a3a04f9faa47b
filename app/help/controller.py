"""Controller of the user guide; pages and pictures are read in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtWidgets import QApplication

from app.actions.row import Needs, Section, action
from app.feature import Feature, guide_page_of
from app.jobs.slot import JobSlot
from app.texts import marked, tr
from app.window_geometry import keep_on_screen

if TYPE_CHECKING:  # lazy imports for a fast start
    from PySide6.QtGui import QImage

    from app.help.guide import Guide
    from app.help.pictures import Sizes
    from app.help.view import GuideWindow
    from app.shell import Shell


@final
class Help(Feature):
    """Show the guide in its own window, at the page for the focused panel."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.window: GuideWindow | None = None  # created on first use
        self._reading = JobSlot(parent=self)
        self._pictures = JobSlot(parent=self)
        self._wanted = ("", "")

    @action(
        "user_guide", marked("User guide"), "help", "F1", Section.HELP_READ, needs=Needs.NOTHING
    )
    def open(self) -> None:
        """Show the guide: the page of the focused panel, else the last page."""
        from app.help.view import GuideWindow

        page, _, anchor = guide_page_of(QApplication.focusWidget()).partition("#")
        self._wanted = page, anchor
        if self.window is None:
            self.window = GuideWindow()
            self._follow_theme()
            self._read()
        else:
            self._show_wanted()
        self.window.show()
        keep_on_screen(self.window)
        self.window.raise_()
        self.window.activateWindow()
        self.window.ask()

    def stop(self) -> None:
        """Stop background jobs and close the window."""
        self._reading.stop()
        self._pictures.stop()
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None

    def _follow_theme(self) -> None:
        from app.theme import theme_of

        application = QApplication.instance()
        assert isinstance(application, QApplication)
        assert self.window is not None
        theme_of(application).changed.connect(self.window.dress)

    # -- reading

    def _read(self) -> None:
        from app.help.guide import read_guide
        from app.language import spoken_language
        from engine.config import guide_folder

        language = spoken_language()
        self._reading.start(
            tr("User guide"),
            lambda _on_progress, _cancel: read_guide(guide_folder(), language),
            self._on_read,
            self._on_failed,
            replaces=True,
        )

    def _on_read(self, guide: Guide) -> None:
        from app.help.pictures import read_pictures

        if self.window is None:
            return

        def read(wanted: Sizes) -> None:
            self._pictures.start(
                tr("User guide"),
                lambda _on_progress, _cancel: read_pictures(guide.folder, wanted),
                self._on_pictures_read,
                replaces=True,
            )

        self.window.text.pictures_wanted.connect(read)
        self.window.show_guide(guide)
        self._show_wanted()

    def _on_pictures_read(self, pictures: dict[str, QImage]) -> None:
        if self.window is not None:
            self.window.text.show_pictures(pictures)

    def _on_failed(self, message: str) -> None:
        if self.window is not None:
            self.window.show_failure(message)

    def _show_wanted(self) -> None:
        from app.help.guide import CONTENTS

        page, anchor = self._wanted
        if self.window is not None and (page or not self.window.page):
            self.window.visit(page or CONTENTS, anchor)
