"""The page of an empty grid: "all done" differs from "nothing matches"."""

from itertools import pairwise

import pytest
from pytestqt.qtbot import QtBot

from app.features import BY_NAME
from app.session.subsets import ImageFilter, Subset
from app.workspace.empty_page import Emptiness, EmptyPage, emptiness
from tests.support.clipping import clipped
from tests.support.states import Picture, state_of

STATE = state_of([Picture(label=4)])


def words(subset: Subset, class_name: str = "", *, is_writable: bool = True) -> Emptiness:
    """The texts for an empty part of a collection."""
    classes = frozenset({4}) if class_name else None
    return emptiness(STATE, ImageFilter(subset, classes), class_name, is_writable=is_writable)


def test_a_project_without_images_asks_for_some() -> None:
    """The first things to do; no buttons in a read-only project."""
    for state in (None, state_of([])):
        found = emptiness(state, ImageFilter(), "", is_writable=True)
        assert found.actions == ("add_folder", "add_images")
        assert not found.is_good
    assert emptiness(None, ImageFilter(), "", is_writable=False).actions == ()


@pytest.mark.parametrize(
    ("subset", "class_name"),
    [(Subset.TO_REVIEW, ""), (Subset.TO_REVIEW, "Gull"), (Subset.FAILED, "")],
)
def test_an_end_well_reached_looks_good(subset: Subset, class_name: str) -> None:
    """Nothing left to review and every file readable have a check mark."""
    found = words(subset, class_name)
    assert found.is_good
    assert found.icon == "check_circle"


@pytest.mark.parametrize(
    ("subset", "class_name"),
    [(Subset.UNKNOWN, ""), (Subset.LABELLED, ""), (Subset.ALL, "Gull"), (Subset.UNKNOWN, "Gull")],
)
def test_nothing_there_does_not_look_like_done(subset: Subset, class_name: str) -> None:
    """An empty subset has no check mark."""
    found = words(subset, class_name)
    assert not found.is_good
    assert found.icon != "check_circle"


def test_all_done_and_nothing_matches_differ_in_every_part() -> None:
    """Icon, title and text of the two differ."""
    done, nothing, unlabelled = (
        words(Subset.TO_REVIEW),
        words(Subset.UNKNOWN),
        words(Subset.LABELLED),
    )
    for first, second in pairwise((done, nothing, unlabelled)):
        assert first.icon != second.icon
        assert first.title != second.title
        assert first.text != second.text
    assert done.title == "All done"


def test_a_class_is_named() -> None:
    """The texts name the shown class."""
    assert words(Subset.ALL, "Gull").title == "No images of Gull yet"
    assert words(Subset.TO_REVIEW, "Gull").title == "Nothing left to review in Gull"
    assert words(Subset.LABELLED, "Gull").title == "No labelled images of Gull yet"


@pytest.mark.parametrize("name", ["long " * 40, "x" * 200])
def test_a_class_of_200_letters_widens_nothing(qtbot: QtBot, name: str) -> None:
    """The name is elided in the middle and wraps."""
    page = EmptyPage(BY_NAME)
    qtbot.addWidget(page)
    page.show_emptiness(words(Subset.TO_REVIEW, name))
    page.resize(382, 500)
    page.show()
    assert len(page.title) < 100
    assert page.width() == 382
    assert clipped(page) == []


def test_every_button_does_something() -> None:
    """Each offered action exists in the window."""
    found = [words(subset, name) for subset in Subset for name in ("", "Gull")] + [
        emptiness(None, ImageFilter(), "", is_writable=True)
    ]
    assert {action for each in found for action in each.actions} <= BY_NAME.keys()


@pytest.mark.parametrize("subset", list(Subset))
def test_nothing_points_at_likely_images(subset: Subset) -> None:
    """Only the page of the class knows whether there are any."""
    assert "likely" not in words(subset, "Gull").text
