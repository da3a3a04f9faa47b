"""The page that replaces an empty grid: why it is empty, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.actions.keys import keys_in_use
from app.actions.row import ActionRow
from app.controls import fill_column, fill_row, make_button, make_label
from app.dragging import take_files, welcome_files
from app.drops import DropBox, DropLight
from app.session.subsets import ImageFilter, Subset
from app.texts import shortened, tr, with_breaks
from app.theme.icons import icon_pixmap
from app.wording import enumeration, preparing_text
from engine.collection.state import CollectionState

if TYPE_CHECKING:
    from app.session import Session


@dataclass(frozen=True)
class Emptiness:
    """Content of the page."""

    icon: str
    title: str
    text: str
    actions: tuple[str, ...] = ("show_all",)  # names of actions that help
    is_good: bool = False  # whether the work is done
    takes_files: bool = False  # whether it is a drop box; a click runs the first action


def emptiness_of(session: Session, wanted: ImageFilter, class_name: str) -> Emptiness:
    """The content for a session's empty grid, also while its backbone is being built."""
    if session.info is None and session.making.slot.is_busy:
        text = tr("This is done once on this computer. The project opens when it is done.")
        return Emptiness("backbone", preparing_text(), text, ())
    return emptiness(session.state, wanted, class_name, is_writable=session.is_writable)


def choosing_backup() -> Emptiness:
    """The content while a backup replaces a damaged project."""
    return Emptiness("history", tr("No project is open"), tr("Choose a backup on the right."), ())


def emptiness(
    state: CollectionState | None, wanted: ImageFilter, class_name: str, *, is_writable: bool
) -> Emptiness:
    if state is None or len(state.image_ids) == 0:
        return Emptiness(
            "images_add",
            tr("Drop images here"),
            tr("Files or whole folders. They stay where they are and are never changed."),
            ("add_folder", "add_images") if is_writable else (),
            takes_files=is_writable,
        )
    if wanted.found is not None:
        text = tr("No image here fits the search “{1}”.", shortened(wanted.found.title))
        return Emptiness("search", tr("Nothing matches"), text, ("clear_search",))
    if wanted.images is not None:
        return _empty_set(wanted)
    if class_name:
        return _empty_class(wanted, shortened(class_name))
    return _empty_subset(wanted.subset)


def _empty_set(wanted: ImageFilter) -> Emptiness:
    if wanted.subset is Subset.TO_REVIEW:
        return Emptiness("check_circle", tr("Nothing left to review here"), "", is_good=True)
    return Emptiness("search", tr("No images here"), tr("Go back to see all images."))


def _empty_class(wanted: ImageFilter, class_name: str) -> Emptiness:
    if wanted.subset is Subset.TO_REVIEW:
        title = tr("Nothing left to review in {1}", class_name)
        text = tr("You have reviewed every image predicted as {1}.", class_name)
        return Emptiness("check_circle", title, text, ("show_to_review",), is_good=True)
    if wanted.subset is Subset.LABELLED:
        key = keys_in_use().text_of("accept")
        text = tr("Drop 1 to 10 images on the class, or accept predictions that are right.")
        if key:
            text = tr(
                "Drop 1 to 10 images on the class, or press {1} on predictions that are right.", key
            )
        return Emptiness("label", tr("No labelled images of {1} yet", class_name), text)
    return Emptiness(
        "class", tr("No images of {1} yet", class_name), tr("Drop 1 to 10 images on the class.")
    )


def _empty_subset(subset: Subset) -> Emptiness:
    if subset is Subset.TO_REVIEW:
        return Emptiness(
            "check_circle", tr("All done"), tr("You have reviewed every image."), is_good=True
        )
    if subset is Subset.FAILED:
        return Emptiness("check_circle", tr("Every file could be read"), "", is_good=True)
    if subset is Subset.UNKNOWN:
        text = tr(
            "Every image resembles one of the classes, and none is labelled “None of the classes”."
        )
        return Emptiness("search", tr("No unknown images"), text)
    keys = [
        key for name in ("accept", "label_as_1", "relabel") if (key := keys_in_use().text_of(name))
    ]
    text = tr(
        "Select an image, then drag it onto a class, or press one of these keys: {1}.",
        enumeration(keys),
    )
    if not keys:
        text = tr("Select an image, then drag it onto a class.")
    return Emptiness("label", tr("No labels yet"), text)


ICON_SIDE = 48
NARROWEST = 280  # minimum width of the text, as in the narrowest pane


@final
class EmptyPage(QWidget):
    """Icon, reason, next step, and buttons."""

    action_requested = Signal(str)
    files_dropped = Signal(Sequence)

    def __init__(self, rows: Mapping[str, ActionRow]) -> None:
        super().__init__()
        self._rows = rows
        self.setAcceptDrops(True)
        self._icon = QLabel()
        self._title = make_label("", "heading", wraps=True)
        self._text = make_label("", "secondary", wraps=True)
        for label in (self._icon, self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMinimumWidth(NARROWEST)
        self._buttons = fill_row(None)
        self._first_action = ""
        self.drop_box = DropBox("", self._on_clicked, self._icon, self._title, self._text)
        middle = fill_column(None, None, self.drop_box, self._buttons, None, spacing=18)
        DropLight(self, self.drop_box)
        outer = fill_row(self, None, middle, None)
        for layout, place, stretch in ((middle, 0, 2), (middle, 3, 3), (outer, 1, 3)):
            layout.setStretch(place, stretch)

    @property
    def title(self) -> str:
        return self._title.accessibleName()

    def show_emptiness(self, words: Emptiness) -> None:
        colour = "accent" if words.is_good else "text_disabled"
        self._icon.setPixmap(
            icon_pixmap(words.icon, ICON_SIDE, colour=colour, ratio=self.devicePixelRatioF())
        )
        self._title.setText(with_breaks(words.title))
        self._title.setAccessibleName(words.title)
        self._text.setText(with_breaks(words.text))
        self._first_action = words.actions[0] if words.takes_files else ""
        self.drop_box.set_open(is_open=words.takes_files)
        self.drop_box.setAccessibleName(words.title)
        while (item := self._buttons.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._buttons.addStretch(1)
        for place, name in enumerate(words.actions):
            variant = (
                "primary"
                if place == 0 and not words.is_good
                else "flat"
                if words.takes_files
                else ""
            )
            self._buttons.addWidget(self._button(name, variant))
        self._buttons.addStretch(1)

    def _button(self, name: str, variant: str) -> QWidget:
        row = self._rows[name]
        return make_button(
            tr(row.text),
            lambda: self.action_requested.emit(name),
            variant=variant,
            icon_name=row.icon,
        )

    def _on_clicked(self) -> None:
        if self._first_action:
            self.action_requested.emit(self._first_action)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := take_files(event):
            self.files_dropped.emit(paths)
