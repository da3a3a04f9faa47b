"""The author of labels: the chosen name, the full name or the login name, not a shared account."""

import getpass
from collections.abc import Iterator

import pytest

from engine.project import clock
from engine.project.clock import account_name, choose_person, full_name, name_in_gecos, person_name


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Clear the cached account name before and after."""
    for each in (full_name, account_name):
        each.cache_clear()
    yield
    for each in (full_name, account_name):
        each.cache_clear()


def be(monkeypatch: pytest.MonkeyPatch, login: str, full: str) -> None:
    """Set the account of the process."""
    monkeypatch.setattr(getpass, "getuser", lambda: login)
    monkeypatch.setattr(clock, "_name_in_directory", lambda: full)


@pytest.mark.parametrize(
    ("login", "full", "name"),
    [
        ("ada", "Ada Lovelace", "Ada Lovelace"),
        ("ada", "", "ada"),
        ("root", "root", "Anonymous"),
        ("root", "Ada Lovelace", "Ada Lovelace"),
        ("Administrator", "", "Anonymous"),
    ],
)
def test_labels_have_a_persons_name(
    monkeypatch: pytest.MonkeyPatch, login: str, full: str, name: str
) -> None:
    """The full name has priority over the login name; shared accounts have no name."""
    be(monkeypatch, login, full)
    assert person_name() == name


def test_a_chosen_name_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is cleared."""
    be(monkeypatch, "ada", "Ada Lovelace")
    choose_person("A. Lovelace ")
    assert person_name() == "A. Lovelace"
    choose_person("")
    assert person_name() == "Ada Lovelace"


def test_a_system_that_knows_no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose user is a number."""

    def fail() -> str:
        raise KeyError("no such user")

    be(monkeypatch, "", "")
    monkeypatch.setattr(clock, "_name_in_directory", fail)
    monkeypatch.setattr(getpass, "getuser", fail)
    assert (full_name(), person_name()) == ("", "Anonymous")


@pytest.mark.parametrize(
    ("gecos", "name"),
    [
        ("Ada Lovelace,Room 1,555-1,", "Ada Lovelace"),
        ("& Lovelace", "Ada Lovelace"),
        ("", ""),
        (",,,", ""),
    ],
)
def test_the_name_in_the_list_of_accounts(gecos: str, name: str) -> None:
    """The first of several fields; & stands for the login name."""
    assert name_in_gecos(gecos, "ada") == name
