"""Frame of a side panel (heading, close button, scrolling column), and the stack that shows it."""

from collections.abc import Iterable
from itertools import pairwise
from typing import final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSlider, QStackedWidget, QWidget

from app.controls import fill_column, fill_row, make_icon_button, make_label, make_scroll_area
from app.side_panel.cards import Questioner
from app.theme.tokens import tokens


class SidePanel(QWidget):
    """A panel in place of the inspector; its job continues while hidden.

    Subclasses lay it out once.
    """

    close_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = make_label("", "heading")
        self._scroll = make_scroll_area()

    def lay_out(
        self,
        title: str,
        close_tip: str,
        parts: Iterable[QWidget],
        *,
        filling: QWidget | None = None,
    ) -> None:
        """Lay out the heading above a column of parts.

        Args:
            title: the heading.
            close_tip: tooltip of the close button.
            parts: they scroll together, unless `filling` is given.
            filling: takes the room below the parts, and scrolls by itself.
        """
        spacing = tokens().spacing
        self._title.setText(title)
        self._close = make_icon_button("close", close_tip, self.close_requested.emit)
        head, body = QWidget(), QWidget()
        row = fill_row(head, self._title, self._close)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setStretch(0, 1)
        body.setProperty("surface", "pane")
        column = fill_column(body, *parts, spacing=spacing.medium)
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.large)
        if filling is None:
            column.addStretch(1)
            self._scroll.setWidget(body)
            fill_column(self, head, self._scroll, spacing=0).setStretch(1, 1)
        else:
            self._scroll.hide()  # it is empty
            rest = QWidget()  # takes the room while `filling` is hidden
            fill_column(rest, filling)
            fill_column(self, head, body, rest, spacing=0).setStretch(2, 1)

    def order_keys(self, *parts: QWidget) -> None:
        """Set the tab order to the visual order: rebuilt cards would come last."""
        for first, second in pairwise((self._close, *parts)):
            QWidget.setTabOrder(first, second)

    def bring_into_sight(self, part: QWidget) -> None:
        """Scroll to a part once the layout is done."""
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(part))

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Scroll to the focused widget, also when coming from the heading."""
        before = self.focusWidget()
        has_moved = super().focusNextPrevChild(forwards)
        focused = self.focusWidget()
        if focused is not None and focused is not before and self._scroll.isAncestorOf(focused):
            self._scroll.ensureWidgetVisible(focused)
        return has_moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc declines an open question, else closes the panel; the page keys scroll."""
        bar = self._scroll.verticalScrollBar()
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
        elif event.matches(QKeySequence.StandardKey.MoveToNextPage):
            bar.triggerAction(QAbstractSlider.SliderAction.SliderPageStepAdd)
        elif event.matches(QKeySequence.StandardKey.MoveToPreviousPage):
            bar.triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
        else:
            super().keyPressEvent(event)

    def _leave(self) -> None:
        questioners = (part for part in self.findChildren(QWidget) if isinstance(part, Questioner))
        open_question = next(
            (part for part in questioners if part.isVisibleTo(self) and part.is_asking), None
        )
        if open_question is None:
            self.close_requested.emit()
        else:
            open_question.refuse()


NARROWEST = 320
"""Fits every panel. The inspector is wider in all but small windows, so opening a panel moves
nothing."""


@final
class SidePlace(QStackedWidget):
    """A stack of the `usual` widget and at most one panel."""

    def __init__(self, usual: QWidget) -> None:
        super().__init__()
        self._usual = usual
        self._usual_width = 0
        self.addWidget(usual)

    def show_panel(self, panel: QWidget) -> None:
        if self.indexOf(panel) < 0:
            other = self.currentWidget()
            if other is not None and other is not self._usual:
                self.close_panel(other)
            self.addWidget(panel)
            self._usual_width = self.minimumWidth()
            self.setMinimumWidth(max(self._usual_width, NARROWEST))
        self.setCurrentWidget(panel)
        panel.setFocus()

    def close_panel(self, panel: QWidget) -> None:
        """Show `usual` again; the panel is kept for reuse."""
        if self.indexOf(panel) < 0:
            return
        self.setCurrentWidget(self._usual)
        self.removeWidget(panel)
        panel.hide()
        self.setMinimumWidth(self._usual_width)
