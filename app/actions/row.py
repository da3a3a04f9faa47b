"""What an action of the window is: one row of data, the parts of the menus, and what must be there for one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntFlag
from itertools import pairwise
from typing import Any, Final, TypeVar

from app.actions.keys import CLASSES, GRID, IMAGES, WINDOW, KeyOwner, Keys, keys_in_use
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


WRITE: Final = Needs.PROJECT | Needs.WRITABLE
WRITE_FOR_GOOD: Final = WRITE | Needs.FOR_GOOD
READ_FOR_GOOD: Final = Needs.PROJECT | Needs.FOR_GOOD

_PROJECT: Final = marked("Project")
_EDIT: Final = marked("Edit")
_CLASSES: Final = marked("Classes")
_IMAGES: Final = marked("Images")
_REVIEW: Final = marked("Review")
_MODEL: Final = marked("Model")
_VIEW: Final = marked("View")
_HELP: Final = marked("Help")


class Section(Enum):
    """The parts of the menus from the first to the last: title of the menu, and what the part is about.

    Within a part actions stand in the order of the features; a separator is between two parts of a menu.
    """

    PROJECT_BEGIN = (_PROJECT, "begin")
    PROJECT_EXCHANGE = (_PROJECT, "exchange")
    PROJECT_KEEP = (_PROJECT, "keep")
    PROJECT_QUIT = (_PROJECT, "quit")
    EDIT_UNDO = (_EDIT, "undo")
    EDIT_SEARCH = (_EDIT, "search")
    CLASSES_NEW = (_CLASSES, "new")
    CLASSES_CHANGE = (_CLASSES, "change")
    CLASSES_COPY = (_CLASSES, "copy")
    CLASSES_REMOVE = (_CLASSES, "remove")
    CLASSES_GRAPH = (_CLASSES, "graph")
    CLASSES_WHAT_IF = (_CLASSES, "what if")
    IMAGES_ADD = (_IMAGES, "add")
    IMAGES_REMOVE = (_IMAGES, "remove")
    REVIEW_ACCEPT = (_REVIEW, "accept")
    REVIEW_DIGITS = (_REVIEW, "digits")
    REVIEW_CLASS_KEYS = (_REVIEW, "keys of classes")
    REVIEW_NOTES = (_REVIEW, "notes")
    MODEL_TRAIN = (_MODEL, "train")
    MODEL_CHOOSE = (_MODEL, "choose")
    MODEL_DEVICE = (_MODEL, "device")
    VIEW_SHOW = (_VIEW, "show")
    VIEW_SORT = (_VIEW, "sort")
    VIEW_PANES = (_VIEW, "panes")
    VIEW_FOUND = (_VIEW, "found")
    HELP_READ = (_HELP, "read")
    HELP_REPORT = (_HELP, "report")
    HELP_ABOUT = (_HELP, "about")

    @property
    def menu(self) -> str:
        """English title of the menu."""
        return self.value[0]


KEYS_ONLY: Final = frozenset({Section.REVIEW_CLASS_KEYS})
"""Parts whose actions have keys and nothing else: what they do depends on the project."""
MENUS: Final = tuple(dict.fromkeys(section.menu for section in Section))
ONLY_IN_GRID: Final = frozenset({"open_image"})
"""Their keys work where images are, but not where one is open."""
_PLACES: Final = {section: place for place, section in enumerate(Section)}


@dataclass(frozen=True)
class ActionRow:
    """One action."""

    name: str  # identifier
    text: str  # English text, to be translated when shown
    icon: str  # name of an icon of the theme
    shortcuts: Keys  # portable key sequences unless a person chose others; the first one is shown
    section: Section  # part of a menu that it belongs to
    needs: Needs = Needs.PROJECT  # what must be there
    on_images: bool = False  # the keys work only where images have the focus, so that they never disturb typing
    on_classes: bool = False  # the keys work only where classes have the focus
    in_bar: bool = True  # whether the menus of the window have it; else keys, context menus and the palette alone

    @property
    def title(self) -> str:
        """The text in the person's language."""
        return tr(self.text)

    @property
    def keys(self) -> Keys:
        """Those in use."""
        return keys_in_use().of(self.name, self.shortcuts)

    @property
    def key_owner(self) -> KeyOwner:
        on_images = GRID if self.name in ONLY_IN_GRID else IMAGES
        place = CLASSES if self.on_classes else on_images if self.on_images else WINDOW
        return KeyOwner(self.name, self.shortcuts, place)


def in_menu_order(rows: Iterable[ActionRow]) -> tuple[ActionRow, ...]:
    return tuple(sorted(rows, key=lambda row: _PLACES[row.section]))


def first_rows(rows: Sequence[ActionRow]) -> frozenset[ActionRow]:
    """Those with a separator before them: the first of each part of a menu but of the first part."""
    return frozenset(
        row
        for before, row in pairwise(rows)
        if before.section is not row.section and before.section.menu == row.section.menu
    )


# -- said beside what an action does

Method = TypeVar("Method", bound=Callable[..., object])
_ROWS: Final = "actions"
"""Attribute of a method that has the actions that call it, each with its arguments."""


def action(
    name: str, text: str, icon: str, keys: str, section: Section, *,
    needs: Needs = Needs.PROJECT, given: tuple[object, ...] = (), on_images: bool = False, on_classes: bool = False,
    in_bar: bool = True,
) -> Callable[[Method], Method]:  # fmt: skip
    """Say that an action calls a method of a feature; several may call the same one.

    Args:
        name: identifier.
        text: marked for translation.
        icon: name of an icon of the theme.
        keys: portable key sequences with spaces between them.
        section: part of a menu.
        needs: what must be there.
        given: arguments of the method.
        on_images: the keys work only where images have the focus.
        on_classes: the keys work only where classes have the focus.
        in_bar: whether the menus of the window have it.
    """
    row = ActionRow(name, text, icon, tuple(keys.split()), section, needs, on_images, on_classes, in_bar)

    def mark(method: Method) -> Method:
        setattr(method, _ROWS, ((row, given), *getattr(method, _ROWS, ())))
        return method

    return mark


def actions_of(owner: type) -> list[tuple[ActionRow, str, tuple[Any, ...]]]:
    """The actions of a class as they stand in it: row, name of the method, and its arguments."""
    return [
        (row, name, given)
        for each in reversed(owner.__mro__)
        for name, method in vars(each).items()
        for row, given in getattr(method, _ROWS, ())
    ]
