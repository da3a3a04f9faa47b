"""Files dropped from outside, the same wherever they land."""

from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent


def welcome_files(event: QDragEnterEvent) -> None:
    """Let files come in."""
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def take_files(event: QDropEvent) -> list[Path]:
    """Take what was dropped; the local files and folders among it, none when it was something else."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.acceptProposedAction()
    return paths
