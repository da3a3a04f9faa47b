"""Names are sorted by the rules of the window's language."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.class_tree.view import ClassTree
from app.image_grid.held_order import Order
from app.language import language_names, name_key
from app.one_window import OneWindow
from app.settings import Settings
from app.texts import speak
from engine.collation import in_order
from engine.files import FoundFile
from engine.log import Log
from engine.project import Project
from tests.support.collections import Collection, cache_of_test
from tests.support.sessions import LONG_MS

SPANISH = ["Nutria", "Ñandú", "Oso"]
GERMAN = ["Ñandú", "Nutria", "Oso"]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("sv", ["Apa", "zebra", "Ål", "älg", "Ödla"]),
        ("es", ["nutria", "Nz", "ñandú", "Oso"]),
        ("de", ["Aal", "Äsche", "Bär", "Biene", "Öre", "Otter", "Zander"]),
        ("fr", ["Écureuil", "Église", "Elan", "Faucon"]),
        ("pt_BR", ["água", "Arara", "Onça", "Ostra"]),
        ("zh_CN", ["啊", "北京", "波", "重庆", "蝴蝶", "熊猫", "中国"]),
        ("en", ["2", "10", "apple", "Äpple 9", "äpple 10", "Zebra"]),
        ("C", ["2", "10", "apple", "Äpple 9", "äpple 10", "Zebra"]),
        ("sv", ["IMG_2.jpg", "img_10.JPG", "IMG_100.jpg"]),
        ("zh_CN", ["叶 9", "叶 10"]),
    ],
)
def test_each_language_has_its_order(language: str, names: list[str]) -> None:
    """Ignoring case, with numeric collation; without a language as in English."""
    key = name_key(QLocale(language))
    assert in_order(names[::-1], str, key) == in_order(names, str, key) == names


@pytest.fixture
def animals(collection: Collection) -> Collection:
    """The small collection with three more classes and images."""
    picture = next(collection.unsorted.iterdir())
    with Project.open(collection.project) as project:
        for name in SPANISH:
            project.classes.add(name)
        files = [
            Path(shutil.copy(picture, collection.unsorted / f"{name}{picture.suffix}"))
            for name in SPANISH
        ]
        project.images.add(
            [FoundFile(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        )
    return collection


@pytest.fixture
def languages(compiled_languages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compiled translations; English is restored afterwards."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    monkeypatch.delenv("PROTOLEAF_LANGUAGE", raising=False)
    language_names.cache_clear()
    before = QLocale()
    yield
    speak(None)
    QLocale.setDefault(before)
    language_names.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("languages")
def test_the_window_follows_the_language(
    qtbot: QtBot, qapp: QApplication, settings: Settings, animals: Collection
) -> None:
    """Tree and grid are sorted by name, again after another language is chosen."""
    one = OneWindow(qapp, settings, Log(), cache_of_test())
    one.begin(animals.project, with_sample=False)
    try:
        for language, expected in (("es", SPANISH), ("de", GERMAN), ("es", SPANISH)):
            earlier = one.window
            qtbot.waitUntil(lambda: one.window.session.info is not None, timeout=LONG_MS)
            settings.language = language
            one.window.language_chosen.emit()
            qtbot.waitUntil(lambda before=earlier: one.window is not before, timeout=LONG_MS)  # type: ignore[misc]
            qtbot.waitUntil(lambda: one.window.session.info is not None, timeout=LONG_MS)
            check_order(qtbot, one, expected)
    finally:
        one.window.close()


def check_order(qtbot: QtBot, one: OneWindow, expected: list[str]) -> None:
    """Check the names in the tree and in the grid of the window."""
    session, workspace = one.window.session, one.window.workspace
    tree = one.window.findChildren(ClassTree)[0].front.model()

    def shown() -> list[str]:
        rows = (str(tree.index(row, 0).data()) for row in range(tree.rowCount()))
        return [name for name in rows if name in expected]

    qtbot.waitUntil(lambda: shown() == expected, timeout=LONG_MS)
    one.window.registry.trigger("order_name")
    qtbot.waitUntil(
        lambda: workspace.model.order is Order.NAME and not workspace.model.is_held, timeout=LONG_MS
    )

    def names() -> list[str]:
        assert session.state is not None
        stems = (session.state.path_of(each).stem for each in workspace.model.image_ids.tolist())
        return [stem for stem in stems if stem in expected]

    qtbot.waitUntil(lambda: names() == expected, timeout=LONG_MS)
