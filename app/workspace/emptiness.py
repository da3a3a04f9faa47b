"""Why the grid is empty and what to do next: "all done" and "nothing matches" never look alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.session.subsets import ImageFilter, Subset
from app.texts import shortened, tr
from app.wording import preparing_text
from engine.collection.state import CollectionState

if TYPE_CHECKING:
    from app.session import Session


@dataclass(frozen=True)
class Emptiness:
    """What the empty grid says.

    Attributes:
        icon: name of an icon.
        title: why it is empty.
        text: what next.
        actions: names of actions that help.
        is_good: whether this is an end well reached.
        takes_files: whether it is a box for files; a click does the first action.
    """

    icon: str
    title: str
    text: str
    actions: tuple[str, ...] = ()
    is_good: bool = False
    takes_files: bool = False


def emptiness_of(session: Session, wanted: ImageFilter, class_name: str) -> Emptiness:
    """Find the words for a session's empty grid, also while a project waits for its backbone."""
    info = session.info
    if info is None and session.making.slot.is_busy:
        return Emptiness(
            "backbone", preparing_text(), tr("This is done once on this computer. The project opens when it is done.")
        )
    return emptiness(session.state, wanted, class_name, is_writable=info is not None and info.is_writable)


def choosing_backup() -> Emptiness:
    """The words while no project is open, because the one that was to be opened is damaged."""
    return Emptiness("history", tr("No project is open"), tr("Choose a backup on the right."))


def emptiness(state: CollectionState | None, wanted: ImageFilter, class_name: str, *, is_writable: bool) -> Emptiness:
    """Find the words for an empty grid."""
    if state is None or len(state.image_ids) == 0:
        return Emptiness(
            "images_add",
            tr("Drop images here"),
            tr("Files or whole folders. They stay where they are and are never changed."),
            ("add_folder", "add_images") if is_writable else (),
            takes_files=is_writable,
        )
    if class_name:
        return _empty_class(wanted, shortened(class_name))
    return _empty_subset(wanted.subset)


def _empty_class(wanted: ImageFilter, class_name: str) -> Emptiness:
    if wanted.subset is Subset.TO_REVIEW:
        return Emptiness(
            "check_circle",
            tr("Nothing left to review in %1", class_name),
            tr("You have reviewed every image predicted as %1.", class_name),
            ("show_to_review",),
            is_good=True,
        )
    if wanted.subset is Subset.LABELLED:
        return Emptiness(
            "label",
            tr("No labelled images of %1 yet", class_name),
            tr("Drop 1 to 10 images on the class, or press Enter on predictions that are right."),
            ("show_all",),
        )
    return Emptiness(
        "class", tr("No images of %1 yet", class_name), tr("Drop 1 to 10 images on the class."), ("show_all",)
    )


def _empty_subset(subset: Subset) -> Emptiness:
    if subset is Subset.TO_REVIEW:
        return Emptiness(
            "check_circle", tr("All done"), tr("You have reviewed every image."), ("show_all",), is_good=True
        )
    if subset is Subset.FAILED:
        return Emptiness("check_circle", tr("Every file could be read"), "", ("show_all",), is_good=True)
    if subset is Subset.UNKNOWN:
        return Emptiness(
            "search",
            tr("No unknown images"),
            tr("Every image resembles one of the classes, and you have labelled none as unknown."),
            ("show_all",),
        )
    return Emptiness(
        "label",
        tr("No labels yet"),
        tr("Select an image, then press Enter, a digit or R, or drag it onto a class."),
        ("show_all",),
    )
