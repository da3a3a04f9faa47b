"""The running job (progress, speed, device, time left, stop), and the unreadable files."""

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QWidget

from app.controls import fill_column, fill_row, make_button, make_icon_button, make_label
from app.mirroring import is_mirrored, isolated, leading_edge, left_to_right
from app.progress_bar import fill_bar, make_bar
from app.texts import plain_tip, plural, tr
from app.wording import SEPARATOR, progress_facts, short_reason, titled
from engine.events import Progress
from engine.files import FileFailure, shown
from engine.texts import translated

_WIDTH = 520
_TEXT_WIDTH = 440
_GAP = 8  # between two files
_LISTED_LIMIT = 1000


def as_text(failures: Sequence[FileFailure]) -> str:
    return "\n".join(shown(f"{failure.path}\t{translated(failure.reason)}") for failure in failures)


@final
class FailuresPopup(QFrame):
    """Every unreadable file with its reason, above the status bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setFixedWidth(_WIDTH)
        self._failures: tuple[FileFailure, ...] = ()
        self._title = make_label("", "heading")
        note = make_label(
            tr("Repair or replace files, then press F5. Protoleaf changes none of them."),
            "secondary",
            wraps=True,
        )
        self._list = QListWidget(self)
        self._list.setUniformItemSizes(False)
        self._list.setWordWrap(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setAccessibleName(tr("Files that could not be read"))
        copy = make_button(tr("Copy the list"), self._on_copy_clicked, icon_name="copy")
        column = fill_column(self, self._title, note, self._list, margins=16)
        column.addWidget(copy, 0, Qt.AlignmentFlag.AlignRight)

    def show_failures(self, failures: Sequence[FileFailure], *, above: QPoint) -> None:
        """Show the list with its lower right corner at `above`, in global coordinates.

        The lower left corner in right-to-left layouts.
        """
        self._failures = tuple(failures)
        self._title.setText(
            plural(len(failures), "1 file could not be read", "{n} files could not be read")
        )
        self._list.clear()
        for failure in failures[:_LISTED_LIMIT]:
            name = failure.path.name
            item = QListWidgetItem(
                f"{left_to_right(shown(name))}\n{shown(short_reason(failure.reason, name))}"
            )
            item.setSizeHint(self._room_for(item.text()))
            item.setToolTip(plain_tip(shown(f"{failure.path}\n{translated(failure.reason)}")))
            self._list.addItem(item)
        self.adjustSize()
        self.move(above - QPoint(0 if is_mirrored() else self.width(), self.height()))
        self.show()

    def _room_for(self, text: str) -> QSize:
        """The size of an item next to a scroll bar.

        Qt's own hint ignores the style's padding, and then cuts the last line.
        """
        flags = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)
        lines = self._list.fontMetrics().boundingRect(QRect(0, 0, _TEXT_WIDTH, _WIDTH), flags, text)
        return QSize(_TEXT_WIDTH, lines.height() + _GAP)

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(as_text(self._failures))
        self.close()


_BAR_WIDTH = 144
# Order in which facts are left out: device, speed, amount done.
_LEAST_NEEDED = (2, 1, 0)


@final
class _Facts(QLabel):
    """Amount done, speed, device and time left; in a narrow window the most important ones."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "secondary")

    @property
    def shown_text(self) -> str:
        """The text as painted."""
        variants = self._variants()
        room = self.contentsRect().width()
        return next(
            (each for each in variants if self.fontMetrics().horizontalAdvance(each) <= room),
            variants[-1],
        )

    def _variants(self) -> list[str]:
        """The text and shorter variants, longest first."""
        facts, variants = self.text().split(SEPARATOR), [self.text()]
        for place in _LEAST_NEEDED:
            if len(facts) > 1 and place < len(facts) - 1:
                del facts[place]
                variants.append(SEPARATOR.join(facts))
        return variants

    def minimumSizeHint(self) -> QSize:
        least = min(map(self.fontMetrics().horizontalAdvance, self._variants()))
        return QSize(least, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), leading_edge(), isolated(self.shown_text))
        painter.end()


@final
class JobBar(QWidget):
    """The trailing end of the status bar."""

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._failures: tuple[FileFailure, ...] = ()
        self._popup = FailuresPopup(self)
        self._title = make_label("", "strong")
        self._bar = make_bar()
        self._bar.setFixedWidth(_BAR_WIDTH)
        self._facts = _Facts()
        self._cancel = make_icon_button("stop", "", self.cancel_requested.emit)
        self._failure_button = make_button(
            "", self.show_failures, variant="warning", icon_name="failure"
        )
        self._running = (self._title, self._bar, self._facts, self._cancel)
        layout = fill_row(self, spacing=12)
        for widget in (self._failure_button, *self._running):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.show_idle()
        self.set_failures(())

    @property
    def is_running(self) -> bool:
        return not self._title.isHidden()

    @property
    def facts(self) -> str:
        return self._facts.text() if self.is_running else ""

    @property
    def shown_facts(self) -> str:
        """The facts that fit."""
        return self._facts.shown_text

    def show_started(self, title: str, *, keeps_finished: bool = True) -> None:
        """Show a job that started, without a known total."""
        self._title.setText(title)
        tip = (
            tr("Stop; what is finished is kept") if keeps_finished else tr("Stop; nothing is saved")
        )
        self._cancel.setToolTip(plain_tip(tip))
        self._cancel.setAccessibleName(tip)
        self._facts.setText("")
        self._bar.setRange(0, 0)
        for widget in self._running:
            widget.show()

    def show_progress(self, progress: Progress) -> None:
        fill_bar(self._bar, progress)
        self._facts.setText(progress_facts(progress))
        self._bar.setAccessibleName(titled(self._title.text(), self._facts.text()))

    def show_idle(self) -> None:
        for widget in self._running:
            widget.hide()

    def set_failures(self, failures: Sequence[FileFailure]) -> None:
        self._failures = tuple(failures)
        self._failure_button.setVisible(bool(failures))
        self._failure_button.setText(
            plural(len(failures), "1 file could not be read", "{n} files could not be read")
        )

    def show_failures(self) -> None:
        anchor = self.mapToGlobal(QPoint(0 if is_mirrored() else self.width(), -8))
        self._popup.show_failures(self._failures, above=anchor)
