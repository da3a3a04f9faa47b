"""View of the side panel for moved images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.controls import fill_column, make_button, make_label, make_notice_column, set_variant
from app.moved_images.wording import (
    apply_text,
    example_lines,
    left_lines,
    missing_line,
    progress_line,
    verdict,
    way_lines,
)
from app.side_panel.cards import FailureNotice, ProgressView
from app.side_panel.frame import SidePanel
from app.texts import breakable, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from engine.relink.records import RelinkPlan


@final
class MovedImagesPanel(SidePanel):
    """Where to search, progress, and a preview with a button to apply it."""

    folder_wanted = Signal()
    search_requested = Signal()  # next to the project
    apply_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.status = make_label("", "strong", wraps=True)
        self.ask = self._make_question()
        self.progress = ProgressView(tr("Stop searching; nothing is changed"), progress_line)
        self.failure = FailureNotice()
        self._card = QFrame()
        self._card_column = make_notice_column(self._card, "accent")
        self._card_column.setSpacing(tokens().spacing.small)
        self.apply_button = make_button("", self.apply_requested.emit, variant="primary")
        self.preview: tuple[str, ...] = ()
        parts = (self.status, self.ask, self.progress, self.failure, self._card)
        self.lay_out(tr("Find moved images"), tr("Close"), parts)
        self.show_missing(0, is_writable=True)
        self.show_idle()

    def _make_question(self) -> QWidget:
        part = QWidget()
        text = tr(
            "Choose the folder they were moved to, or one above it. Images are matched by folder, "
            "by name and size, "
            "or by content. You see what was found before anything changes. Labels stay."
        )
        self.folder_button = make_button(
            tr("Choose a folder…"), self.folder_wanted.emit, variant="primary", icon_name="folder"
        )
        self.search_near_button = make_button(
            tr("Search near the project"), self.search_requested.emit, icon_name="search"
        )
        fill_column(
            part,
            make_label(text, "secondary", wraps=True),
            self.folder_button,
            self.search_near_button,
        )
        return part

    def show_missing(self, count: int, *, is_writable: bool) -> None:
        self.status.setText(missing_line(count) if count else tr("No image is missing."))
        self.folder_button.setEnabled(bool(count))
        self.search_near_button.setEnabled(bool(count))
        self.apply_button.setEnabled(is_writable)

    def show_idle(self, failure: str = "") -> None:
        self.progress.show_ended()
        self.failure.show_text(failure)
        self.ask.show()
        self._fill_card(())

    def show_searching(self, folder: Path | None) -> None:
        self.ask.hide()
        self._fill_card(())
        self.failure.show_text("")
        where = (
            tr("Searching near the project") if folder is None else tr("Searching {1}", folder.name)
        )
        self.progress.show_step(where)

    def show_plan(self, plan: RelinkPlan, project_folder: Path) -> None:
        self.show_idle()
        rows = [(verdict(plan), "strong"), *((line, "") for line in way_lines(plan))]
        rows += [(line, "caption") for line in example_lines(plan, project_folder)]
        rows += [(line, "secondary") for line in left_lines(plan)]
        self.apply_button.setText(apply_text(len(plan.moves)))
        self._fill_card(rows, can_apply=bool(plan.moves))
        self.bring_into_sight(self._card)

    def _fill_card(self, rows: Sequence[tuple[str, str]], *, can_apply: bool = False) -> None:
        while (item := self._card_column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self.apply_button:
                widget.hide()
                widget.deleteLater()
        self.preview = tuple(text for text, _ in rows)
        for text, role in rows:
            self._card_column.addWidget(make_label(breakable(text), role, wraps=True))
        self._card_column.addWidget(self.apply_button)
        self.apply_button.setVisible(can_apply)
        set_variant(self.folder_button, "" if can_apply else "primary")
        self._card.setVisible(bool(rows))
