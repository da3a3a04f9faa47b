"""What an action of the window is: one row of data, the menus that rows are in, and what must be there for one."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from app.texts import marked, tr


class Needs(IntFlag):
    """What must be there before an action can be chosen.

    `FOR_GOOD`: edits are done, not tried out; `TRIED_OUT`: they are only tried out.
    """

    NOTHING = 0
    PROJECT = 1
    WRITABLE = 2
    IMAGES = 4
    CLASS = 8
    UNDO = 16
    REDO = 32
    SEVERAL_PARENTS = 64
    FOR_GOOD = 128
    TRIED_OUT = 256


@dataclass(frozen=True)
class ActionRow:
    """One action.

    Attributes:
        name: identifier; also the key of its callback.
        text: English text, to be translated when shown.
        icon: name of an icon of the theme.
        shortcuts: portable key sequences; the first one is shown.
        group: menu that it belongs to.
        needs: what must be there.
        on_images: the keys work only where images have the focus, so that they never disturb typing.
        on_classes: the keys work only where classes have the focus.
        starts_section: a separator comes before it in its menu.
    """

    name: str
    text: str
    icon: str
    shortcuts: tuple[str, ...]
    group: str
    needs: Needs = Needs.PROJECT
    on_images: bool = False
    on_classes: bool = False
    starts_section: bool = False

    @property
    def title(self) -> str:
        """The text in the person's language."""
        return tr(self.text)


PROJECT: Final = marked("Project")
EDIT: Final = marked("Edit")
CLASSES: Final = marked("Classes")
IMAGES: Final = marked("Images")
REVIEW: Final = marked("Review")
MODEL: Final = marked("Model")
VIEW: Final = marked("View")
HELP: Final = marked("Help")

GROUPS: Final = (PROJECT, EDIT, CLASSES, IMAGES, REVIEW, MODEL, VIEW, HELP)


def group_title(group: str) -> str:
    """A group's name in the person's language."""
    return tr(group)
