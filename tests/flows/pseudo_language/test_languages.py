"""Every screen in each language of the window: nothing is cut."""

from pathlib import Path

import pytest

from tests.flows.pseudo_language.test_screens import read_every_action
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader

LANGUAGES = sorted(path.stem for path in (Path(__file__).parents[3] / "translations").glob("*.ts"))


@pytest.fixture(params=LANGUAGES)
def spoken(request: pytest.FixtureRequest, compiled_languages: Path) -> Path:
    """One after another."""
    return compiled_languages / f"{request.param}.qm"


def test_nothing_is_cut(reviewing: Desk, reader: Reader) -> None:
    """On the screens of all actions. `PROTOLEAF_PICTURES` leaves pictures of them."""
    reader.finds_english = False
    reader.read("welcome")
    read_every_action(reviewing, reader)
