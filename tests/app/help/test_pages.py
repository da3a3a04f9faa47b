"""The guide is correct: its links have targets, and its quotations are texts of the program."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence

from app.actions.row import MENUS, ActionRow
from app.features import ACTIONS, FEATURES, PAGE_KEYS
from app.help.guide import CONTENTS, Guide, GuidePage, read_guide
from app.key_choice.logic import PRESETS
from engine.config import guide_folder
from engine.interchange.labelled_images.formats import FORMATS
from tests.architecture.source_code import ROOT
from tests.architecture.test_texts import commands

GUIDE: Guide = read_guide(guide_folder())
PAGES = sorted(GUIDE.pages.values(), key=lambda page: page.name)
MESSAGES = GUIDE.pages["troubleshooting"]

_LINK = re.compile(r"\]\(([^)]+)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_PLACE = re.compile(r"%[\dn]|\{[^{}]*\}")
_KEYS = re.compile(
    r"`((?:(?:Ctrl|Shift|Alt)\+)+\S|(?:Ctrl\+|Shift\+|Alt\+)*(?:Enter|Space|Del|F\d+|[A-Z?]))`"
)
_ACTION_WITH_KEY = re.compile(r"\*\*(?P<path>[^*]+ > [^*]+)\*\* \(`(?P<keys>[^`]+)`\)")
_OTHER_KEYS = frozenset(
    # Of system lists, a terminal, the guide itself, and the drawing (app/graph_view/keys.py).
    {"Ctrl+A", "Ctrl+C", "Alt+Left", "Ctrl", "Shift", "Ctrl+0", "Ctrl+F", "F"}
)
NO_MESSAGES = frozenset({"Predictions are poor"})
"""Headings on the page of messages that are not messages."""


def each_page(page: GuidePage) -> str:
    return page.name


@cache
def texts_in(folder: str) -> frozenset[str]:
    """String constants in a package's code, with an ellipsis for each placeholder."""
    texts = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(_PLACE.sub("…", node.value))
            elif isinstance(node, ast.JoinedStr):
                texts.add("".join(_text_of(part) for part in node.values))
    return frozenset(texts)


def _text_of(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "…"


def actions_in(path: str) -> list[ActionRow]:
    """The titled actions at the path of a menu or submenu."""
    menu, *submenu, title = path.split(" > ")
    return [
        row
        for row in ACTIONS
        if (row.section.menu, _submenu(row), row.text) == (menu, submenu, title)
    ]


def _submenu(row: ActionRow) -> list[str]:
    return [] if row.section.submenu is None else [row.section.submenu.text]


@pytest.mark.parametrize("page", PAGES, ids=each_page)
def test_links_lead_to_pages_headings_and_pictures(page: GuidePage) -> None:
    """All within the guide; the program follows no other links."""
    for link in _LINK.findall(page.markdown):
        name, _, anchor = link.partition("#")
        if name.startswith("images/"):
            assert (GUIDE.folder / name).is_file(), link
            continue
        target = GUIDE.pages.get(name.removesuffix(".md") or page.name)
        assert target is not None, link
        assert anchor in {section.anchor for section in target.sections}, link


@pytest.mark.parametrize("page", PAGES, ids=each_page)
def test_bold_words_are_words_of_the_window(page: GuidePage) -> None:
    """Button, field and message texts of the program; `Menu > Submenu > Action` is an action."""
    for words in _BOLD.findall(page.markdown):
        if " > " in words:
            assert actions_in(words), words
        else:
            assert words in MENUS or words in texts_in("app"), words


@pytest.mark.parametrize("page", PAGES, ids=each_page)
def test_keys_are_those_of_the_window(page: GuidePage) -> None:
    """A key given after an action belongs to that action."""
    on_pages = {keys for page_keys in PAGE_KEYS for row in page_keys.rows for keys in row.declared}
    of_presets = {
        keys for preset in PRESETS.values() for own in preset.chosen.values() for keys in own
    }
    known = (
        {keys for row in ACTIONS for keys in row.shortcuts} | on_pages | of_presets | _OTHER_KEYS
    )
    for keys in _KEYS.findall(page.markdown):
        assert keys in known, keys
    for found in _ACTION_WITH_KEY.finditer(page.markdown):
        (row,) = actions_in(found["path"])
        assert QKeySequence(found["keys"]) in [QKeySequence(keys) for keys in row.shortcuts], found[
            0
        ]


def test_every_message_is_one_of_the_program() -> None:
    """Each heading of the page of messages is literally a message of the program."""
    entries = re.findall(r"^### (.+)$", MESSAGES.markdown, re.MULTILINE)
    assert len(entries) > 40
    assert [
        entry
        for entry in entries
        if entry not in texts_in("app") | texts_in("engine") | NO_MESSAGES
    ] == []


def test_the_page_of_the_command_line_names_every_command() -> None:
    """Each command is on the page, in code font."""
    page = GUIDE.pages["command-line"].markdown
    assert [name for name in commands() if f"`{name}" not in page] == []


def test_the_page_of_exports_names_every_format() -> None:
    """The table lists exactly the export formats."""
    page = GUIDE.pages["exporting"].markdown
    table = page.partition("## Formats")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| `([\w-]+)` \|", table, re.MULTILINE)
    written = {name: one for name, one in FORMATS.items() if one.write_file or one.write_folder}
    assert sorted(rows) == sorted((one.title, name) for name, one in written.items())
    assert [name for name in FORMATS if f"`{name}`" not in page] == []


def test_every_file_is_a_page() -> None:
    """All are listed in the contents, and no picture is unused."""
    assert {path.stem for path in GUIDE.folder.glob("*.md")} == set(GUIDE.pages)
    shown = {name for page in PAGES for name in page.pictures}
    assert {f"images/{path.name}" for path in (GUIDE.folder / "images").iterdir()} == shown


def test_pictures_are_small() -> None:
    """For the repository and the installer; none is larger than a window."""
    for name, (width, height) in GUIDE.picture_sizes.items():
        assert width <= 1440, name
        assert height <= 900, name
        assert (GUIDE.folder / name).stat().st_size <= 200_000, name


def test_parts_of_the_window_name_pages_of_the_guide() -> None:
    """The pages that the help key opens."""
    named = re.compile(r'set_guide_page\(self, "([^"]+)"\)')
    found = [
        place
        for path in Path(ROOT / "app").rglob("*.py")
        for place in named.findall(path.read_text("utf-8"))
    ]
    found += [feature.guide_page for feature in FEATURES if feature.guide_page]
    assert len(found) >= 12
    for place in found:
        name, _, anchor = place.partition("#")
        assert anchor in {section.anchor for section in GUIDE.pages[name].sections}, place


def test_the_contents_come_first() -> None:
    """They are the first page of the guide."""
    assert next(iter(GUIDE.pages)) == CONTENTS
