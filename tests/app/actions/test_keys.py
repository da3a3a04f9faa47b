"""Keys in use: a chosen key precedes a declared one; invalid settings are ignored."""

import logging
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.actions.keys import (
    CLASSES,
    GRID,
    IMAGES,
    WINDOW,
    KeyOwner,
    KeysInUse,
    normal_key,
    settle,
    short_key,
    shown_key,
)
from app.features import key_owners
from app.key_choice.logic import PRESETS
from app.settings import Settings

OWNERS = (
    KeyOwner("undo", ("Ctrl+Z",), WINDOW),
    KeyOwner("accept", ("Return", "Enter"), IMAGES),
    KeyOwner("reject", ("X",), IMAGES),
    KeyOwner("open", ("Space",), GRID),
    KeyOwner("remove", ("Del",), CLASSES),
    KeyOwner("page.take", ("X",), "page"),
    KeyOwner("other.take", ("X",), "other", with_images=True),
)


@pytest.fixture
def store(tmp_path: Path) -> Settings:
    """Settings stored in a file."""
    return Settings(QSettings(str(tmp_path / "keys.ini"), QSettings.Format.IniFormat))


def begun(store: Settings | None = None) -> KeysInUse:
    """The keys in use after a window has started."""
    keys = KeysInUse()
    keys.begin(OWNERS, store)
    return keys


@pytest.mark.parametrize(
    ("name", "key", "rivals"),
    [
        ("accept", "X", ["reject", "other.take"]),
        ("accept", "Space", ["open"]),
        ("undo", "X", ["reject", "page.take", "other.take"]),
        ("remove", "X", []),
        ("page.take", "Del", []),
        ("page.take", "Space", []),
        ("page.take", "Ctrl+Z", ["undo"]),
        ("other.take", "Enter", ["accept"]),
        ("open", "X", ["reject"]),
    ],
)
def test_keys_are_rivals_where_both_work(name: str, key: str, rivals: list[str]) -> None:
    """Keys conflict where both work: on the window, on a page, or on images."""
    assert begun().rivals(name, key) == rivals


def test_a_chosen_key_is_taken_from_those_that_only_declare_it() -> None:
    """A chosen key takes precedence where both would work; of two choices the first gets it."""
    settled = settle(OWNERS, {"accept": ("X",)})
    assert (settled["accept"], settled["reject"], settled["other.take"], settled["page.take"]) == (
        ("X",),
        (),
        (),
        ("X",),
    )


def test_two_that_chose_the_same_key(caplog: pytest.LogCaptureFixture) -> None:
    """One gets the key, with a warning in the log."""
    with caplog.at_level(logging.WARNING):
        settled = settle(OWNERS, {"accept": ("Q",), "reject": ("Q",)})
    assert (settled["accept"], settled["reject"]) == (("Q",), ())
    assert "Q of reject" in caplog.text
    caplog.clear()


def test_choices_survive_a_restart(store: Settings) -> None:
    """A removed key stays removed; a reset restores the declared keys."""
    keys = begun(store)
    keys.choose({"accept": ("A", "Ctrl+,"), "reject": (), "undo": ("Ctrl+Z",)})
    again = begun(Settings(QSettings(store.store.fileName(), QSettings.Format.IniFormat)))
    assert (again.of("accept"), again.of("reject"), again.of("undo")) == (
        ("A", "Ctrl+,"),
        (),
        ("Ctrl+Z",),
    )
    assert again.chosen.keys() == {"accept", "reject"}
    again.reset(["reject"])
    assert begun(store).chosen.keys() == {"accept"}
    again.reset()
    assert begun(store).chosen == {}
    assert begun(store).of("accept") == ("Return", "Enter")


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "NoSuchKey",
        "Ctrl+K, Ctrl+L",
        "Shift",
        17,
        b"\0\xff",
        ["A", "Bogus+Bogus"],
        [],
        None,
        "A" * 10_000,
    ],
)
def test_damaged_entries_are_ignored(
    store: Settings, stored: object, caplog: pytest.LogCaptureFixture
) -> None:
    """The action falls back to its declared keys or to the valid part of the entry."""
    store.store.setValue("keys/accept", stored)
    store.store.setValue("keys/reject", "Q")
    with caplog.at_level(logging.WARNING):
        keys = begun(store)
    caplog.clear()
    assert keys.of("accept") in (("Return", "Enter"), ("A",))
    assert keys.of("reject") == ("Q",)


def test_entries_of_another_version_stay(store: Settings, caplog: pytest.LogCaptureFixture) -> None:
    """They are logged and ignored, but not deleted from the settings."""
    store.store.setValue("keys/teleport", "T")
    with caplog.at_level(logging.WARNING):
        keys = begun(store)
    assert "teleport" in caplog.text
    caplog.clear()
    keys.choose({"accept": ("A",)})
    keys.reset()
    assert store.chosen_keys() == {"teleport": ["T"]}


@pytest.mark.parametrize(
    ("written", "key"),
    [("ctrl+z", "Ctrl+Z"), ("Enter", "Enter"), ("A, B", ""), ("Shift", ""), ("", ""), ("?", "?")],
)
def test_one_key_with_its_modifiers(written: str, key: str) -> None:
    """Keys are normalised; a sequence of several keys gives ""."""
    assert normal_key(written) == key


def test_keys_for_people() -> None:
    """Both keys named Enter are shown as Enter; the short form uses symbols."""
    assert [shown_key(key) for key in ("Return", "Ctrl+Return", "U")] == [
        "Enter",
        "Ctrl+Enter",
        "U",
    ]
    assert [short_key(key) for key in ("Return", "Shift+Enter", "U")] == ["↵", "⇧↵", "U"]


def test_declared_keys_of_the_window_do_not_meet() -> None:
    """Pages may share keys with one another; the key that opens an image also closes it."""
    keys = KeysInUse()
    keys.begin(key_owners())
    pairs = {
        (owner.name, rival)
        for owner in key_owners()
        for key in owner.keys
        for rival in keys.rivals(owner.name, key)
    }
    assert pairs == set()


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_whole(name: str) -> None:
    """Each action of a preset exists and gets all of its keys."""
    chosen = PRESETS[name].chosen
    owners = key_owners()
    assert chosen.keys() <= {owner.name for owner in owners}
    settled = settle(owners, chosen)
    assert all(settled[action] == own for action, own in chosen.items())
