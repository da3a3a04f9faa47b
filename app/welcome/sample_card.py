"""What the first page shows while the sample collection is made."""

from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.controls import make_label, make_notice_column
from app.images.thumbnails import Thumbnails
from app.side_panel.progress import ProgressView
from app.theme.tokens import tokens
from app.welcome.picture_wall import PictureWall
from engine.events import Progress


@final
class SampleCard(QFrame):
    """How far the drawing is, its pictures as they come, and a way to stop it.

    Signals:
        cancel_requested: stop it.

    Args:
        thumbnails: where pictures come from.
        width: of the page.
    """

    cancel_requested = Signal()

    def __init__(self, thumbnails: Thumbnails, width: int) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.progress = ProgressView(self.tr("The pictures drawn so far will be drawn again next time."))
        self.progress.cancel_requested.connect(self.cancel_requested)
        self.wall = PictureWall(thumbnails, width - 2 * spacing.medium)
        column = make_notice_column(self)
        column.setSpacing(spacing.small)
        column.addWidget(make_label(self.tr("Drawing the sample collection"), "strong"))
        column.addWidget(self.progress)
        column.addSpacing(spacing.tiny)
        column.addWidget(self.wall)
        self.hide()

    def begin(self) -> None:
        """Appear, before anything is known of the drawing."""
        self.wall.clear()
        self.progress.show_step(self.tr("Starting…"))
        self.show()

    def show_progress(self, progress: Progress) -> None:
        """Show how many pictures are there."""
        self.progress.show_progress(progress)

    def add_picture(self, path: Path) -> None:
        """Show a picture that was drawn."""
        self.wall.add(path)

    def end(self) -> None:
        """Go away."""
        self.progress.show_ended()
        self.hide()
