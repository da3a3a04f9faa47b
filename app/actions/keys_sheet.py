"""An overlay with all keyboard shortcuts, built from the table of actions."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from string import digits
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.actions.keys import keys_in_use
from app.actions.page_keys import PageKeys
from app.actions.row import MENUS, ActionRow
from app.controls import fill_column, fill_row, make_button, make_label, make_row, make_scroll_area
from app.palette.overlay import Overlay
from app.texts import marked, tr

WIDTH = 760
COLUMNS = 2

RUNS = {
    ("label_as_1", "label_as_9"): marked("Label by rank"),
    ("digit_1", "digit_9"): marked("Label by rank"),
    ("label_with_1", "label_with_9"): marked("Label as the class with this key"),
    ("stars_1", "stars_5"): marked("Rating"),
    ("show_all", "show_unknown"): marked("Show all images, those to review, labelled or unknown"),
}
"""Title of a run of consecutive digits, by the names of its first and last action."""

KeyLine = tuple[str, str]
"""Title and displayed shortcut."""
NamedLine = tuple[str, str, str]
"""Action name, title and displayed shortcut."""
Group = tuple[str, list[KeyLine]]


@final
class KeysSheet(Overlay):
    """Two columns of groups, which scroll in a low window; Esc or a click outside closes it."""

    change_requested = Signal()

    def __init__(
        self, host: QWidget, rows: Iterable[ActionRow], pages: Iterable[PageKeys] = ()
    ) -> None:
        super().__init__(host, WIDTH)
        self._heading = make_label(tr("Keyboard shortcuts"), "heading")
        change = make_button(tr("Change shortcuts…"), self.change_requested.emit, variant="flat")
        self._head = make_row(self._heading, change, grows=0)
        self._body = self._make_body(_groups(rows, pages))
        scroll = make_scroll_area()
        scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # arrow and page keys scroll
        scroll.setAccessibleName(self._heading.text())
        scroll.setWidget(self._body)
        parts, margins = (self._head, scroll), (24, 20, 24, 24)
        self._layout = fill_column(self.panel, *parts, spacing=16, margins=margins, grows=1)
        self.setFocusProxy(scroll)

    def _make_body(self, groups: Sequence[Group]) -> QWidget:
        body = QWidget()
        body.setProperty("surface", "raised")
        columns = fill_row(body, spacing=40)
        for half in _balanced(groups):
            lines = [_group(title, lines) for title, lines in half]
            columns.addLayout(fill_column(None, *lines, None, spacing=12), 1)
        return body

    def wanted_height(self, width: int) -> int:
        """The height at which heading and all shortcuts fit without scrolling."""
        room, frame = self._layout.contentsMargins(), 2 * self.panel.frameWidth()
        keys = self._body.heightForWidth(width - room.left() - room.right() - frame)
        words = self._head.sizeHint().height() + self._layout.spacing() + keys
        return room.top() + words + room.bottom() + frame


def _groups(rows: Iterable[ActionRow], pages: Iterable[PageKeys]) -> list[Group]:
    """Menus and pages, each with its lines that have a shortcut."""
    by_menu: dict[str, list[NamedLine]] = {menu: [] for menu in MENUS}
    for row in rows:
        line = row.name, row.title.replace("…", ""), keys_in_use().text_of(row.name, row.shortcuts)
        by_menu[row.section.menu].append(line)
    groups = [(tr(menu), lines) for menu, lines in by_menu.items()]
    groups += [
        (tr(page.text), [(row.name, tr(row.text), page.text_of(row.name)) for row in page.rows])
        for page in pages
    ]
    with_keys = [(title, _joined([line for line in lines if line[-1]])) for title, lines in groups]
    return [group for group in with_keys if group[1]]


def _joined(lines: Sequence[NamedLine]) -> list[KeyLine]:
    """The lines, with runs such as `Ctrl+1` to `Ctrl+5` joined to one."""
    found: list[KeyLine] = []
    for _stem, run in groupby(enumerate(lines), lambda each: _run_of(each[0], each[1][-1])):
        of_run = [line for _place, line in run]
        (first, text, keys), (last, last_text, last_keys) = of_run[0], of_run[-1]
        is_known, is_one_text = (first, last) in RUNS, text == last_text and first != last
        if is_known or is_one_text:
            title = tr(RUNS[first, last]) if is_known else text
            found.append((title, f"{keys} \N{EN DASH} {last_keys[-1]}"))
        else:
            found += [line[1:] for line in of_run]
    return found


def _run_of(place: int, keys: str) -> tuple[str, int]:
    """A key for grouping a run of lines whose shortcuts differ only in a digit that counts up."""
    digit = keys[-1]
    return (keys[:-1], place - int(digit)) if digit in digits else (keys, place)


def _balanced(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    left: list[Group] = []
    right: list[Group] = []
    for group in sorted(groups, key=lambda entry: -len(entry[1])):
        shorter = min((left, right), key=lambda half: sum(len(lines) + 2 for _, lines in half))
        shorter.append(group)
    return left, right


def _group(title: str, lines: Sequence[KeyLine]) -> QGridLayout:
    grid = QGridLayout()
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    grid.addWidget(make_label(title, "section"), 0, 0)
    for line, (text, keys) in enumerate(lines, start=1):
        grid.addWidget(make_label(text, "secondary", wraps=True), line, 0)
        # The shortcut stays on one line where the text wraps.
        grid.addWidget(make_label(keys, "key"), line, 1, Qt.AlignmentFlag.AlignVCenter)
    return grid
