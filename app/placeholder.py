"""Page shown instead of content: an icon, why there is none, and what to do next."""

from dataclasses import dataclass
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.controls import make_label
from app.progress_bar import fill_bar, make_bar
from app.texts import with_breaks
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import progress_facts
from engine.events import Progress

ICON_SIDE = 48
NARROWEST = 280  # least width of the text


@dataclass(frozen=True)
class PlaceholderTexts:
    """Content of a placeholder."""

    icon: str
    title: str
    text: str = ""
    is_good: bool = False  # whether the work is done
    is_working: bool = False  # whether a progress bar is shown


@final
class Placeholder(QWidget):
    """Icon, title and text, above a progress bar or buttons."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = QLabel()
        self.title = make_label("", "heading", wraps=True)
        self.text = make_label("", "secondary", wraps=True)
        self.bar = make_bar()
        self.bar.setFixedWidth(NARROWEST)
        self._facts = make_label("", "caption")
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(tokens().spacing.small)
        column = QVBoxLayout(self)
        column.setSpacing(tokens().spacing.medium)
        column.addStretch(2)
        for label in (self._icon, self.title, self.text, self._facts):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMinimumWidth(NARROWEST)
            # Full width: Qt gives an aligned label the height of one line.
            column.addWidget(label)
        column.insertWidget(4, self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(self._buttons)
        column.addStretch(3)

    def show_texts(self, texts: PlaceholderTexts, *buttons: QWidget) -> None:
        """Replace the content."""
        colour, ratio = "accent" if texts.is_good else "text_disabled", self.devicePixelRatioF()
        self._icon.setPixmap(icon_pixmap(texts.icon, ICON_SIDE, colour=colour, ratio=ratio))
        self.title.setText(with_breaks(texts.title))
        self.text.setText(with_breaks(texts.text))
        self.bar.setAccessibleName(texts.title)
        for part in (self.bar, self._facts):
            part.setVisible(texts.is_working)
        self.show_progress(None)
        while (item := self._buttons.takeAt(0)) is not None:
            if (button := item.widget()) is not None:
                button.deleteLater()
        self._buttons.addStretch(1)
        for button in buttons:
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)

    def show_progress(self, progress: Progress | None) -> None:
        """Show how far the work is; None if unknown."""
        if progress is None:
            self.bar.setRange(0, 0)
        else:
            fill_bar(self.bar, progress)
        self._facts.setText("" if progress is None else progress_facts(progress))
