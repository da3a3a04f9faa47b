"""The table of actions as a text file, so that each change is visible in review."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu, QMenuBar

from app.actions.menu_keys import without_mark
from app.actions.row import MENUS, ActionRow, MenuLine, lines_within, menu_lines
from app.features import ACTIONS
from tests.support.desk import Desk

TABLE = Path(__file__).with_name("actions.txt")
MOST_LINES = 15
"""The most lines that a menu may have."""


def lines_of(rows: Sequence[ActionRow]) -> Iterator[str]:
    """One line of text for each action."""
    for menu in MENUS:
        before = ""
        for line in menu_lines(row for row in rows if row.section.menu == menu):
            begins, before = "---" if before not in {"", line.part} else "", line.part
            if line.submenu is None:
                yield line_of(line.rows[0], menu, begins)
                continue
            yield f"{menu} > {line.submenu.text}|{begins}"
            yield from submenu_lines(f"{menu} > {line.submenu.text}", line)


def submenu_lines(path: str, line: MenuLine) -> Iterator[str]:
    """The lines of a submenu."""
    before = line.rows[0].section.inner_part
    for inner in lines_within(line.rows):
        begins, before = "---" if before != inner.part else "", inner.part
        yield line_of(inner.rows[0], path, begins)


def line_of(row: ActionRow, menu: str, begins: str) -> str:
    """The text of one action."""
    where = "images" if row.on_images else "classes" if row.on_classes else "window"
    where += "" if row.in_bar else ", in no menu of the window"
    needs = "+".join(sorted(need.name or "" for need in row.needs))
    return "|".join(
        (menu, begins, row.name, row.text, row.icon, " ".join(row.shortcuts), needs, where)
    )


def levels(menu: QMenuBar | QMenu, path: str = "") -> Iterator[tuple[str, int]]:
    """Each menu by its path, with its number of lines."""
    actions = [action for action in menu.actions() if not action.isSeparator()]
    yield path, len(actions)
    for action in actions:
        if isinstance(below := action.menu(), QMenu):
            yield from levels(below, f"{path} > {without_mark(action.text())}")


def test_the_table_of_actions() -> None:
    """Menu, separator, name, text, icon, keys, needs and scope, in menu order."""
    assert list(lines_of(ACTIONS)) == TABLE.read_text(encoding="utf-8").splitlines()


def test_no_menu_has_more_lines_than_are_found_at_a_glance() -> None:
    """No menu or submenu of the table is too long; a submenu has several actions."""
    for menu in MENUS:
        lines = menu_lines(row for row in ACTIONS if row.section.menu == menu and row.in_bar)
        assert len(lines) <= MOST_LINES, menu
        submenus = [line for line in lines if line.submenu is not None]
        assert len({line.submenu for line in submenus}) == len(submenus), (
            "a submenu stands at one place"
        )
        for line in submenus:
            assert 2 <= len(line.rows) <= MOST_LINES, line.submenu


@pytest.mark.slow
def test_the_menu_bar_has_no_level_with_more_lines(desk: Desk) -> None:
    """On screen, too, where menus have additional lines such as recent projects."""
    found = dict(levels(desk.window.menuBar()))
    assert len(found) > len(MENUS)
    assert {path: count for path, count in found.items() if count > MOST_LINES} == {}
    assert " > File > Import" in found
    assert " > File > Export" in found
