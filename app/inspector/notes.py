"""Stars, flag and comment of the displayed image, for editing."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from app.actions.key_places import digit_by_place
from app.actions.key_tips import follow_keys, set_key_tip
from app.actions.keys import keys_in_use
from app.controls import fill_column, make_icon_button, make_row
from app.inspector.page import PageRequests, Paragraph
from app.key_names import ENTER_KEYS
from app.mirroring import key_in_reading_order, placed
from app.painting import paint_box, paint_icon
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon

if TYPE_CHECKING:
    from engine.project.records import Note

MOST_STARS = 5  # as in the project
# Logical pixels.
SIDE = 18
GAP = 2
EDITOR_HEIGHT = 76
LONGEST = 10_000  # maximum characters in the project


@final
class StarRating(QWidget):
    """Five stars; a click sets the rating, clicking the same star clears it.

    The arrow and digit keys set it, too.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.stars = 0
        self._hovered = 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Stars"))
        follow_keys(self, self._show_tip)
        self.show_stars(0)

    def _show_tip(self) -> None:
        first, last = (keys_in_use().text_of(f"stars_{stars}") for stars in (1, MOST_STARS))
        self.setToolTip(
            plain_tip(tr("Stars ({1} to {2})", first, last) if first and last else tr("Stars"))
        )

    def show_stars(self, stars: int) -> None:
        self.stars = stars
        self.setAccessibleDescription(
            plural(stars, "1 star", "{n} stars") if stars else tr("No stars")
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(MOST_STARS * (SIDE + GAP) + 2 * GAP, SIDE + 2 * GAP)

    def _star_at(self, place: QPoint) -> int:
        x = placed(QRect(place, QSize(1, 1)), self.rect()).x()
        return max(1, min(MOST_STARS, int((x - GAP) // (SIDE + GAP)) + 1))

    def _choose(self, stars: int) -> None:
        self.chosen.emit(0 if stars == self.stars else stars)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(self._star_at(event.position().toPoint()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered = self._star_at(event.position().toPoint())
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hovered = 0
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        number = (digit_by_place(event) or event.key()) - Qt.Key.Key_0
        if (key := key_in_reading_order(event.key())) in steps:
            stars = max(0, min(MOST_STARS, self.stars + steps[key]))
            if stars != self.stars:
                self.chosen.emit(stars)
        elif 0 <= number <= MOST_STARS:
            self.chosen.emit(number)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_box(painter, self.rect().adjusted(1, 1, -1, -1), 6, edge="focus", width=1.5)
        for place in range(MOST_STARS):
            is_given, is_meant = place < self.stars, place < self._hovered
            name = "star" if is_given else "star_outline"
            colour = "warning" if is_given or is_meant else "text_disabled"
            spot = placed(QRect(2 * GAP + place * (SIDE + GAP), GAP, SIDE, SIDE), self.rect())
            paint_icon(painter, spot, name, colour)
        painter.end()


@final
class CommentEditor(QPlainTextEdit):
    """A comment editor: Ctrl+Enter or losing the focus saves; Esc restores the old comment."""

    written = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(EDITOR_HEIGHT)
        self.setTabChangesFocus(True)
        self.setAccessibleName(tr("Comment"))
        self.setPlaceholderText(tr("Comment. Ctrl+Enter saves it, Esc discards it."))
        self._before = ""

    def begin(self, text: str) -> None:
        self._before = text
        self.setPlainText(text)
        self.show()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def finish(self) -> None:
        """Save the comment, and hide the editor."""
        if self.isHidden():
            return
        text = self.toPlainText().strip()[:LONGEST]
        self.hide()
        if text != self._before:
            self._before = text
            self.written.emit(text)
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in ENTER_KEYS
        if event.key() == Qt.Key.Key_Escape:
            self.setPlainText(self._before)
            self.finish()
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.finish()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its context menu
            self.finish()


@final
class NoteSection(QWidget):
    """Stars, flag and comment of one image."""

    def __init__(self, requests: PageRequests) -> None:
        super().__init__()
        self._image_id = -1
        self._note: Note | None = None
        self._is_writable = True
        self.stars = StarRating()
        self.flag = make_icon_button("flag_outline", tr("Flag"), self._on_flag_clicked)
        set_key_tip(self.flag, tr("Flag"), "flag")
        self.flag.setCheckable(True)
        self.flag.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._add = make_icon_button("comment", tr("Comment on the image"), self.edit)
        set_key_tip(self._add, tr("Comment on the image"), "comment")
        self._add.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._comment = Paragraph("")
        self.editor = CommentEditor()
        self.editor.hide()
        row = make_row(self.stars, self.flag, self._add, None)
        fill_column(self, row, self._comment, self.editor)
        self._requests = requests
        self.stars.chosen.connect(lambda stars: requests.stars_chosen.emit(self._image_id, stars))
        self.editor.written.connect(
            lambda text: requests.comment_written.emit(self._image_id, text)
        )
        self.editor.left.connect(self._on_editor_left)

    def show_note(self, image_id: int, note: Note | None, *, is_writable: bool) -> None:
        if image_id != self._image_id:
            self.editor.finish()  # saves input for the previous image
        self._image_id, self._note, self._is_writable = image_id, note, is_writable
        is_flagged = note is not None and note.is_flagged
        self.stars.show_stars(0 if note is None else note.stars)
        self.flag.setChecked(is_flagged)
        self.flag.setIcon(icon("flag" if is_flagged else "flag_outline"))
        for part in (self.stars, self.flag, self._add):
            part.setEnabled(is_writable)
        self._show_comment()

    def _show_comment(self) -> None:
        comment = "" if self._note is None else self._note.comment
        self._comment.show_text(comment if self.editor.isHidden() else "")

    def edit(self) -> None:
        if self._is_writable:
            self.editor.begin("" if self._note is None else self._note.comment)
            self._show_comment()

    def _on_flag_clicked(self) -> None:
        self._requests.flag_chosen.emit(self._image_id, self.flag.isChecked())

    def _on_editor_left(self) -> None:
        self._show_comment()
        self._requests.left.emit()
