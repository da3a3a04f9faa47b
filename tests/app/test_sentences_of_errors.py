"""Translated messages of the engine: arguments that are words, and punctuation."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.language import LANGUAGE_VARIABLE, install_language
from app.texts import speak
from engine.errors import ModelError, ProtoleafError
from engine.exporting.export_graph import export_graph
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import clean_name
from engine.interchange import json_tree
from engine.texts import Message, either
from engine.training.needed_packages import check_packages
from protoleaf_cluster.embed import _refuse_other
from tests.support.projects import new_project
from tests.support.screen_texts import english_words

LONG = "x" * 300
COLON = "\uff1a"
COMMA = "\uff0c"
DATA = (
    "Gull",
    "Gill",
    "Bird",
    "classes.json",
    LONG[:40],
    "nowhere",
    "torch",
    "elsewhere",
    "small",
    '"name"',
    '"children"',
    "[train]",
    "202ex",
    "Gall",
)


@pytest.fixture
def speaks(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Use a compiled language until the end of the test."""
    before = QLocale()

    def begin(language: Path) -> None:
        monkeypatch.setenv(LANGUAGE_VARIABLE, str(language))
        install_language(qapp)

    yield begin
    speak(None)
    QLocale.setDefault(before)


def begun_otherwise(**differing: object) -> None:
    """A data set begun with other sources, another backbone, or another shard size."""
    begun = {
        "sources": ("nowhere",),
        "card": SimpleNamespace(name="small"),
        "backbone_hash": "0",
        "identity": "",
        "shard_images": 9,
    }
    asked = begun | differing
    _refuse_other(cast("Any", SimpleNamespace(**begun)), cast("Any", SimpleNamespace(**asked)))


def a_graph() -> CategoryGraph:
    """Gull under Bird, and Gill."""
    graph = CategoryGraph()
    graph.add_class("Gull", [graph.add_class("Bird")])
    graph.add_class("Gill")
    return graph


def of_json(folder: Path, text: str) -> None:
    """Read a JSON file of classes."""
    (folder / "classes.json").write_text(text)
    json_tree.read(folder / "classes.json")


def of_output(folder: Path) -> None:
    """Export the graph of a project over the project file."""
    project = new_project(folder)
    project.classes.add("Bird")
    export_graph(project, project.path, "json")


WRONG: dict[str, Callable[[Path], object]] = {
    "synonym": lambda _: clean_name(LONG, noun="synonym"),
    "rank": lambda _: clean_name("\u202ex", noun="rank"),
    "source id": lambda _: clean_name("\u202ex", noun="source id"),
    "top level": lambda _: a_graph().add_class("Bird"),
    "under": lambda _: a_graph().add_class("Gull", [1]),
    "close": lambda _: a_graph().find("Gall"),
    "unlike": lambda _: a_graph().find("nowhere"),
    "sources": lambda _: begun_otherwise(sources=("elsewhere",)),
    "backbone": lambda _: begun_otherwise(backbone_hash="1"),
    "shards": lambda _: begun_otherwise(shard_images=3),
    "row": lambda folder: of_json(folder, '{"classes": [3]}'),
    "name": lambda folder: of_json(folder, '{"classes": [{"name": null}]}'),
    "tree": lambda folder: of_json(folder, '[{"name": "Bird", "children": [[]]}]'),
    "children": lambda folder: of_json(folder, '[{"name": "Bird", "children": 3}]'),
    "output": of_output,
    "packages": lambda _: check_packages(["nowhere"], Message("training needs")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_no_word_of_a_sentence_stays_english(
    name: str, pseudo_translations: Path, tmp_path: Path, speaks: Callable[[Path], None]
) -> None:
    """Arguments that are words are translated, too."""
    speaks(pseudo_translations)
    with pytest.raises(ProtoleafError) as caught:
        WRONG[name](tmp_path)
    assert english_words(caught.value.translated(), DATA) == [], caught.value.translated()


@pytest.mark.parametrize(
    ("parts", "chinese", "english"),
    [
        ({}, "a", "a"),
        ({"remedy": "d"}, "a。d", "a. D"),
        ({"found": "c"}, "a{colon}实际为 c", "a: found c"),
        ({"expected": "b"}, "a{colon}应为 b", "a: expected b"),
        ({"expected": "b", "remedy": "d"}, "a{colon}应为 b。d", "a: expected b. D"),
        ({"found": "c", "remedy": "d"}, "a{colon}实际为 c。d", "a: found c. D"),
        (
            {"expected": "b", "found": "c"},
            "a{colon}应为 b{comma}实际为 c",
            "a: expected b, found c",
        ),
        (
            {"expected": "b", "found": "c", "remedy": "d"},
            "a{colon}应为 b{comma}实际为 c。d",
            "a: expected b, found c. D",
        ),
    ],
)
def test_parts_are_joined_by_the_marks_of_the_language(
    parts: dict[str, str],
    chinese: str,
    english: str,
    compiled_languages: Path,
    speaks: Callable[[Path], None],
) -> None:
    """Chinese has full-width marks; log messages stay English."""
    error = ModelError("a", **parts)
    speaks(compiled_languages / "protoleaf_zh_CN.qm")
    assert error.translated().casefold() == chinese.format(colon=COLON, comma=COMMA)
    assert str(error) == english
    speaks(compiled_languages / "protoleaf_de.qm")
    assert error.translated().startswith(english[:2])


def test_choices_are_joined_by_the_word_of_the_language(
    compiled_languages: Path, speaks: Callable[[Path], None]
) -> None:
    speaks(compiled_languages / "protoleaf_de.qm")
    choice = either(["a", "b", "c"])
    assert isinstance(choice, Message)
    assert (str(choice), choice.translated()) == ("a or b or c", "a oder b oder c")
