"""Actions of the window as rows of data, the sections of the menus, and the needs of actions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, IntFlag
from itertools import groupby
from typing import Any, TypeVar

from app.actions.keys import CLASSES, GRID, IMAGES, WINDOW, KeyOwner, Keys, keys_in_use
from app.texts import marked, tr


class Needs(IntFlag):
    """Conditions of the state that an action needs.

    `FOR_GOOD`: edits apply to the project; `TRIED_OUT`: edits apply to a what-if copy.
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


WRITE = Needs.PROJECT | Needs.WRITABLE
WRITE_FOR_GOOD = WRITE | Needs.FOR_GOOD
READ_FOR_GOOD = Needs.PROJECT | Needs.FOR_GOOD


@dataclass(frozen=True)
class Submenu:
    """A submenu of a menu."""

    text: str  # English text, to be translated when shown
    icon: str  # icon name of the theme
    # Its actions need its title for context: `Sort by: Name`.
    is_named_elsewhere: bool = False


_FILE = marked("File")
_EDIT = marked("Edit")
_VIEW = marked("View")
_CLASSES = marked("Classes")
_IMAGES = marked("Images")
_REVIEW = marked("Review")
_MODEL = marked("Model")
_HELP = marked("Help")

_IMPORT = Submenu(marked("Import"), "graph_import")
_EXPORT = Submenu(marked("Export"), "export")
_SORT = Submenu(marked("Sort by"), "sort", is_named_elsewhere=True)
_SHOW = Submenu(marked("Show"), "show_all", is_named_elsewhere=True)
_FOLDS = Submenu(marked("Duplicates and bursts"), "stack")
_GRAPH = Submenu(marked("Graph"), "graph")
_PARENTS = Submenu(marked("Parents"), "multi_parent")
_TRIED_OUT = Submenu(marked("Try changes"), "what_if")
_REPLACED = Submenu(marked("Moved and replaced"), "folder")
_RANKS = Submenu(marked("Label by rank"), "digit")
_RATING = Submenu(marked("Rating"), "star")
_FIELDS = Submenu(marked("Comment and fields"), "comment")
_CHECK = Submenu(marked("Check"), "check_label")


class Section(Enum):
    """The sections of the menus, in order.

    Within a section, actions have the order of the features. Separators divide the parts of a menu
    and of a submenu.

    Args:
        menu: English title.
        part: group of the menu, between separators.
        submenu: the submenu of the actions; it is placed in the part of the menu.
        inner_part: group of the submenu.
    """

    FILE_BEGIN = (_FILE, "begin")
    FILE_IMPORT = (_FILE, "exchange", _IMPORT)
    FILE_EXPORT = (_FILE, "exchange", _EXPORT)
    FILE_KEEP = (_FILE, "keep")
    FILE_QUIT = (_FILE, "quit")
    EDIT_UNDO = (_EDIT, "undo")
    EDIT_SEARCH = (_EDIT, "search")
    EDIT_SETTINGS = (_EDIT, "settings")
    VIEW_SORT = (_VIEW, "lists", _SORT)
    VIEW_SORT_AGAIN = (_VIEW, "lists")
    VIEW_SHOW = (_VIEW, "lists", _SHOW, "subsets")
    VIEW_FOUND = (_VIEW, "lists", _SHOW, "found")
    VIEW_FOLDS = (_VIEW, "lists", _FOLDS)
    VIEW_GRAPH = (_VIEW, "pages", _GRAPH)
    VIEW_PAGES = (_VIEW, "pages")
    VIEW_PANES = (_VIEW, "panes")
    VIEW_ZOOM = (_VIEW, "zoom")
    CLASSES_NEW = (_CLASSES, "new")
    CLASSES_CHANGE = (_CLASSES, "change")
    CLASSES_PARENTS = (_CLASSES, "change", _PARENTS)
    CLASSES_COPY = (_CLASSES, "copy")
    CLASSES_REMOVE = (_CLASSES, "remove")
    CLASSES_GRAPH = (_CLASSES, "graph")
    CLASSES_WHAT_IF = (_CLASSES, "graph", _TRIED_OUT)
    IMAGES_ADD = (_IMAGES, "add")
    IMAGES_OPEN = (_IMAGES, "open")
    IMAGES_LIKE = (_IMAGES, "like")
    IMAGES_THINGS = (_IMAGES, "things")
    IMAGES_FILES = (_IMAGES, "files")
    IMAGES_REPLACED = (_IMAGES, "files", _REPLACED)
    IMAGES_REMOVE = (_IMAGES, "remove")
    REVIEW_ACCEPT = (_REVIEW, "accept")
    REVIEW_RANKS = (_REVIEW, "accept", _RANKS)
    REVIEW_NONE = (_REVIEW, "none")
    REVIEW_CLASS_KEYS = (_REVIEW, "keys of classes")
    REVIEW_NOTES = (_REVIEW, "notes")
    REVIEW_RATING = (_REVIEW, "notes", _RATING)
    REVIEW_FIELDS = (_REVIEW, "notes", _FIELDS)
    REVIEW_PAGES = (_REVIEW, "pages")
    REVIEW_CHECK = (_REVIEW, "pages", _CHECK)
    REVIEW_REPORT = (_REVIEW, "report")
    MODEL_TRAIN = (_MODEL, "train")
    MODEL_CHOOSE = (_MODEL, "choose")
    MODEL_DEVICE = (_MODEL, "device")
    HELP_READ = (_HELP, "read")
    HELP_REPORT = (_HELP, "report")
    HELP_ABOUT = (_HELP, "about")

    def __init__(
        self, menu: str, part: str, submenu: Submenu | None = None, inner_part: str = ""
    ) -> None:
        self.menu, self.part, self.submenu, self.inner_part = menu, part, submenu, inner_part


KEYS_ONLY = frozenset({Section.REVIEW_CLASS_KEYS})
"""Sections that are in no menu: what their actions do depends on the project."""
MENUS = tuple(dict.fromkeys(section.menu for section in Section))
ONLY_IN_GRID = frozenset({"open_image"})
"""Their shortcuts work in the grid of images, but not where an image is open."""
_PLACES = {section: place for place, section in enumerate(Section)}


@dataclass(frozen=True)
class ActionRow:
    """One action."""

    name: str  # identifier
    text: str  # English text, to be translated when shown
    icon: str  # icon name of the theme
    shortcuts: Keys  # declared portable key sequences; the first one is shown
    section: Section  # section of a menu
    needs: Needs = Needs.PROJECT  # conditions of the state
    # The shortcuts work only where images have the focus, so that they never disturb typing.
    on_images: bool = False
    on_classes: bool = False  # the shortcuts work only where classes have the focus
    # Whether it is in the menu bar; else only shortcut, context menus and palette.
    in_bar: bool = True

    @property
    def title(self) -> str:
        """The translated text, understandable outside its menu."""
        return self.named(tr(self.text))

    def named(self, text: str) -> str:
        """A text prefixed with that of its submenu where it needs the context: `Sort by: Name`."""
        submenu = self.section.submenu
        return (
            tr("{1}: {2}", tr(submenu.text), text)
            if submenu and submenu.is_named_elsewhere
            else text
        )

    @property
    def keys(self) -> Keys:
        """The shortcuts in use."""
        return keys_in_use().of(self.name, self.shortcuts)

    @property
    def key_owner(self) -> KeyOwner:
        on_images = GRID if self.name in ONLY_IN_GRID else IMAGES
        place = CLASSES if self.on_classes else on_images if self.on_images else WINDOW
        return KeyOwner(self.name, self.shortcuts, place)


def in_menu_order(rows: Iterable[ActionRow]) -> tuple[ActionRow, ...]:
    return tuple(sorted(rows, key=lambda row: _PLACES[row.section]))


@dataclass(frozen=True)
class MenuLine:
    """One line of a menu: an action, or a submenu with its actions."""

    part: str
    rows: tuple[ActionRow, ...]
    submenu: Submenu | None = None


def menu_lines(rows: Iterable[ActionRow]) -> list[MenuLine]:
    """The lines of a menu with these actions, in order; a separator goes between two parts."""
    lines = []
    for submenu, group in groupby(rows, key=lambda row: row.section.submenu):
        held = tuple(group)
        if submenu is None:
            lines += [MenuLine(row.section.part, (row,)) for row in held]
        else:
            lines.append(MenuLine(held[0].section.part, held, submenu))
    return lines


def lines_within(rows: Iterable[ActionRow]) -> list[MenuLine]:
    """The lines of a submenu with these actions."""
    return [MenuLine(row.section.inner_part, (row,)) for row in rows]


# -- declaration on methods

Method = TypeVar("Method", bound=Callable[..., object])
_ROWS = "actions"
"""Attribute of a method with its actions, each with the arguments of the call."""


def action(
    name: str,
    text: str,
    icon: str,
    keys: str,
    section: Section,
    *,
    needs: Needs = Needs.PROJECT,
    given: tuple[object, ...] = (),
    on_images: bool = False,
    on_classes: bool = False,
    in_bar: bool = True,
) -> Callable[[Method], Method]:
    """Declare an action that calls a method of a feature; a method may have several.

    Args:
        name: identifier.
        text: marked for translation.
        icon: icon name of the theme.
        keys: portable key sequences separated by spaces.
        section: section of a menu.
        needs: conditions of the state.
        given: arguments of the method.
        on_images: the shortcuts work only where images have the focus.
        on_classes: the shortcuts work only where classes have the focus.
        in_bar: whether it is in the menu bar.
    """
    row = ActionRow(
        name, text, icon, tuple(keys.split()), section, needs, on_images, on_classes, in_bar
    )

    def mark(method: Method) -> Method:
        setattr(method, _ROWS, ((row, given), *getattr(method, _ROWS, ())))
        return method

    return mark


def actions_of(owner: type) -> list[tuple[ActionRow, str, tuple[Any, ...]]]:
    """The actions of a class in order of declaration: row, method name, and arguments."""
    return [
        (row, name, given)
        for each in reversed(owner.__mro__)
        for name, method in vars(each).items()
        for row, given in getattr(method, _ROWS, ())
    ]
