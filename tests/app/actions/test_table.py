"""The whole table of actions, as menus, keys sheet and palette show it: nothing moves unnoticed."""

from pathlib import Path

from app.actions.row import ActionRow, first_rows
from app.features import ACTIONS

TABLE = Path(__file__).with_name("actions.txt")


def line_of(row: ActionRow) -> str:
    """One action as one line."""
    where = "images" if row.on_images else "classes" if row.on_classes else "window"
    where += "" if row.in_bar else ", in no menu of the window"
    begins = "---" if row in first_rows([each for each in ACTIONS if each.in_bar]) else ""
    needs = "+".join(sorted(need.name or "" for need in row.needs))
    return "|".join((row.section.menu, begins, row.name, row.text, row.icon, " ".join(row.shortcuts), needs, where))


def test_the_table_of_actions() -> None:
    """Menu, separator, name, text, icon, keys, needs and where the keys work, in the order of menus and palette."""
    assert [line_of(row) for row in ACTIONS] == TABLE.read_text(encoding="utf-8").splitlines()
