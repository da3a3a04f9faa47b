"""Labelling in German and in Chinese, and switching to English."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for, wait_until_still
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in
from tests.support.fresh_home import REPOSITORY

IMAGES = 80


class Words:
    """Translated texts by their English source."""

    def __init__(self, language: str) -> None:
        tree = ET.parse(REPOSITORY / "translations" / f"protoleaf_{language}.ts")  # noqa: S314 (a file of the repository)
        self._texts = {
            each.findtext("source"): each.findtext("translation") or ""
            for each in tree.iter("message")
        }

    def of(self, text: str) -> str:
        """The translated text."""
        return self._texts[text]


@pytest.mark.parametrize("language", ["de", "zh_CN"])
def test_a_label_and_another_language(
    person: Person, tmp_path: Path, caches: CacheFolders, language: str
) -> None:
    """Enter, undo, the label again; then English in the settings: the same project and label."""
    project, words = prepared_project(tmp_path, caches, IMAGES), Words(language)
    person.program.start("--language", language, project)
    person.wait(
        lambda: person.eyes.window(project.stem) or person.reader.find(words.of("Images")),
        "the window",
        60,
    )
    # 文件(F): a letter is appended where the text has none.
    person.part_containing(words.of("File"), "menu item")
    person.part_containing(words.of("To review"), "list item")
    grid = person.part(words.of("Images")).area
    person.wait(lambda: person.cards(grid), "cards")
    person.part(words.of("About this file"))
    wait_until_still(lambda: person.cards(grid), "the cards")
    before = labels_in(project)
    person.hand.key("Enter")
    wait_for(lambda: len(labels_in(project)) == len(before) + 1, "the label on disk")
    person.hand.key("Ctrl+Z")
    wait_for(lambda: labels_in(project) == before, "no label on disk")
    person.hand.key("Enter")
    wait_for(lambda: len(labels_in(project)) == len(before) + 1, "the label on disk again")
    labels = labels_in(project)
    person.hand.key("Ctrl+,")
    person.click(words.of("System"), "combo box")
    person.click("English", "list item")
    person.part("File", "menu item")
    person.part_containing("To review", "list item")
    assert labels_in(project) == labels
