"""Every screen in each language of the window: no text is clipped."""

from pathlib import Path

import pytest
from PySide6.QtCore import QLocale

from app.actions.keys import shown_key
from app.language import spoken_language
from app.texts import tr
from tests.flows.pseudo_language.test_screens import read_every_action
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader

FILES = (Path(__file__).parents[3] / "translations").glob("*.ts")
LANGUAGES = sorted(path.stem.removeprefix("protoleaf_") for path in FILES)


@pytest.fixture(params=LANGUAGES)
def spoken(request: pytest.FixtureRequest, languages_there: None) -> str:
    """Each language by its code, with its number formats and names of keys."""
    return str(request.param)


def test_it_is_the_language_of_a_setting(spoken: str) -> None:
    """Number formats and names of keys, too."""
    assert spoken_language() == spoken
    assert QLocale().name() == QLocale(spoken).name()
    assert shown_key("Ctrl+Shift+Return") == f"{tr('Ctrl')}+{tr('Shift')}+{tr('Enter')}"


@pytest.mark.slow
def test_nothing_is_cut(reviewing: Desk, reader: Reader) -> None:
    """All texts fit on the screens of all actions; `PROTOLEAF_PICTURES` saves screenshots."""
    reader.finds_english = False
    reader.read("welcome")
    read_every_action(reviewing, reader)
