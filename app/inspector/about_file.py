"""Information about an image's file: folder, date, camera, size, place and further metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from app.controls import (
    ElidedLabel,
    fill_column,
    make_button,
    make_icon_button,
    make_label,
    make_row,
)
from app.inspector.page import PageRequests, Paragraph
from app.texts import fill, marked, tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR, clauses, enumeration, file_size, moment_text, number, on_one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from engine.collection.live import LiveCollection
    from engine.project.records import ImageDetails

FIELD_NAMES = {
    "title": marked("Title"),
    "description": marked("Description"),
    "keywords": marked("Keywords"),
    "creator": marked("Creator"),
    "copyright": marked("Copyright"),
    "rating": marked("Rating in the file"),
    "serial": marked("Serial number"),
    "lens": marked("Lens"),
    "exposure_s": marked("Exposure"),
    "aperture": marked("Aperture"),
    "iso": marked("ISO"),
    "focal_length_mm": marked("Focal length"),
}
"""In display order."""
# Logical pixels.
_LABEL_WIDTH = 84
_BUTTON = 22


@dataclass(frozen=True)
class FileFacts:
    """Stored facts about a file."""

    size_bytes: int
    details: ImageDetails | None  # None until the file was read
    # Uncorrected time of the camera's clock, where a correction is set.
    clock_time: datetime | None = None


def ask_file(live: LiveCollection, image_id: int) -> FileFacts | None:
    """Query the facts of an image; on the project thread. None where the image was removed."""
    table = live.project.images.table([image_id])
    if not len(table.ids):
        return None
    details, as_read = live.project.details.of(image_id), live.project.details.as_read(image_id)
    by_clock = None if as_read is None else as_read.taken_at
    is_corrected = details is not None and details.taken_at != by_clock
    return FileFacts(table.sizes_bytes[0], details, by_clock if is_corrected else None)


def taken_text(details: ImageDetails | None) -> str:
    """The date taken, by the camera's clock in its own time zone; "" for unknown.

    A date without a time is shown as in the file.
    """
    if details is None or details.taken_at is None:
        return "" if details is None else details.taken_on
    return moment_text(details.taken_at.replace(tzinfo=None))


def corrected_text(details: ImageDetails | None, clock_time: datetime | None) -> str:
    """The date taken; where the camera's clock is corrected, with its uncorrected time."""
    text = taken_text(details)
    if clock_time is None:
        return text
    return tr(
        "{1} (corrected; the camera's clock said {2})",
        text,
        moment_text(clock_time.replace(tzinfo=None)),
    )


def size_words(width: int, height: int, size_bytes: int) -> str:
    """`4,000 x 3,000 pixels · 2.1 MB`."""
    pixels = tr("{1} × {2} pixels", number(width), number(height)) if width and height else ""  # noqa: RUF001
    return SEPARATOR.join(filter(None, (pixels, file_size(size_bytes))))


def place_text(latitude: float, longitude: float) -> str:
    """`48.50000° N, 9.26000° W`."""
    north = tr("{1}° N") if latitude >= 0 else tr("{1}° S")
    east = tr("{1}° E") if longitude >= 0 else tr("{1}° W")
    values = (QLocale().toString(abs(degrees), "f", 5) for degrees in (latitude, longitude))
    return clauses(*(fill(text, value) for text, value in zip((north, east), values, strict=True)))


def copied_place(latitude: float, longitude: float) -> str:
    """Coordinates in the format of map services: `48.50000, -9.26000`."""
    return f"{latitude:.5f}, {longitude:.5f}"


def field_text(name: str, value: str) -> str:
    """The value of a further metadata field, formatted."""
    match name:
        case "keywords":
            return enumeration(value.split("\n"))
        case "exposure_s":
            return on_one_line(tr("{1} s", value))
        case "aperture":
            return f"f/{value}"
        case "focal_length_mm":
            return on_one_line(tr("{1} mm", value))
        case "rating":
            return "★" * int(value) if value.isdigit() else value
    return value


@final
class AboutFile(QWidget):
    """Rows of names and values; rows without a value are hidden."""

    summarised = Signal(str)  # a short summary

    def __init__(self, requests: PageRequests) -> None:
        super().__init__()
        self._path: Path | None = None
        self._place = ""
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(tokens().spacing.small)
        self._grid.setVerticalSpacing(tokens().spacing.tiny)
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._rows: dict[str, tuple[QWidget, ElidedLabel | Paragraph, QToolButton | None]] = {}
        folder = self._make_copy("copy", tr("Copy path"), lambda: str(self._path or ""))
        place = self._make_copy("copy", tr("Copy coordinates"), lambda: self._place)
        for name, title, button in (
            ("folder", tr("Folder"), folder),
            ("taken", tr("Taken"), None),
            ("camera", tr("Camera"), None),
            ("size", tr("Size"), None),
            ("place", tr("Place"), place),
        ):
            is_line = name == "folder"
            value = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle) if is_line else Paragraph("")
            self._add_row(name, title, value, button)
        for name, title in FIELD_NAMES.items():
            self._add_row(name, tr(title), Paragraph(""), None)
        self.show_folder = make_button(
            tr("Show in folder"), requests.folder_requested.emit, variant="flat"
        )
        self.show_folder.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        fill_column(self, self._grid, make_row(self.show_folder, None))
        self._facts: FileFacts | None = None

    def _make_copy(self, icon_name: str, tip: str, text_of: Callable[[], str]) -> QToolButton:
        button = make_icon_button(
            icon_name, tip, lambda: QGuiApplication.clipboard().setText(text_of())
        )
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _add_row(
        self, name: str, title: str, value: ElidedLabel | Paragraph, button: QToolButton | None
    ) -> None:
        label, line = make_label(title, "muted"), len(self._rows)
        is_line = isinstance(value, ElidedLabel)
        self._grid.addWidget(
            label, line, 0, Qt.AlignmentFlag.AlignVCenter if is_line else Qt.AlignmentFlag.AlignTop
        )
        self._grid.addWidget(value, line, 1)
        if button is not None:
            button.setFixedSize(_BUTTON, _BUTTON)
            self._grid.addWidget(button, line, 2)
        self._rows[name] = label, value, button

    def show_path(self, path: Path) -> None:
        """Show the facts of a path; `show_facts` adds the rest."""
        if path != self._path:
            self._path, self._facts = path, None
            self._show()

    def show_facts(self, facts: FileFacts | None) -> None:
        self._facts = facts
        self._show()

    def _show(self) -> None:
        path, facts = self._path, self._facts
        if path is None:
            return
        self._show_row("folder", str(path.parent))
        details = None if facts is None else facts.details
        self._place = place = ""
        if details is not None and details.latitude is not None and details.longitude is not None:
            self._place = copied_place(details.latitude, details.longitude)
            place = place_text(details.latitude, details.longitude)
        clock_time = None if facts is None else facts.clock_time
        self._show_row("taken", corrected_text(details, clock_time))
        self._show_row("camera", details.camera if details else "")
        width, height = (details.width, details.height) if details else (0, 0)
        size = size_words(width, height, facts.size_bytes) if facts else ""
        self._show_row("size", size)
        self.summarised.emit(taken_text(details) or size)
        self._show_row("place", place)
        fields = dict(details.fields) if details else {}
        for name in FIELD_NAMES:
            self._show_row(name, field_text(name, fields[name]) if name in fields else "")

    def _show_row(self, name: str, text: str) -> None:
        label, value, button = self._rows[name]
        value.show_text(text)
        for part in (label, value, button):
            if part is not None:
                part.setVisible(bool(text))

    def text_of(self, name: str) -> str:
        """The text of a row; "" where it is hidden."""
        value = self._rows[name][1]
        return value.text() if not value.isHidden() else ""
