"""Every screen in each language of the window: nothing is cut."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale

from app.actions.keys import shown_key
from app.language import language_names, spoken_language
from app.texts import tr
from tests.flows.pseudo_language.test_screens import read_every_action
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader

FILES = (Path(__file__).parents[3] / "translations").glob("*.ts")


@pytest.fixture(params=sorted(path.stem.removeprefix("protoleaf_") for path in FILES))
def spoken(request: pytest.FixtureRequest, compiled_languages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """One after another, by its code as a person chooses it: with its numbers and names of keys."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    language_names.cache_clear()
    yield str(request.param)
    language_names.cache_clear()


def test_it_is_the_language_of_a_setting(spoken: str) -> None:
    """Numbers and names of keys, too."""
    assert spoken_language() == spoken
    assert QLocale().name() == QLocale(spoken).name()
    assert shown_key("Ctrl+Shift+Return") == f"{tr('Ctrl')}+{tr('Shift')}+{tr('Enter')}"


def test_nothing_is_cut(reviewing: Desk, reader: Reader) -> None:
    """On the screens of all actions. `PROTOLEAF_PICTURES` leaves pictures of them."""
    reader.finds_english = False
    reader.read("welcome")
    read_every_action(reviewing, reader)
