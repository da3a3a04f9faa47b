"""Choices of a palette for a text."""

import pytest

from app.palette.logic import (
    ROW_LIMIT,
    AskChoice,
    CreateChoice,
    PaletteRow,
    class_ids_for,
    class_rows,
    commands_for,
    create_choice,
    found_rows,
    label_rows,
    place_of,
)
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from tests.support.graphs import big_graph, names_of, seaside_graph


@pytest.fixture
def graph() -> CategoryGraph:
    """Nine classes, Puffin under two parents."""
    return seaside_graph()


def offered(graph: CategoryGraph, text: str, *first: str) -> list[str]:
    """Names of the offered classes."""
    return names_of(graph, class_ids_for(graph, text, first=[graph.find(name) for name in first]))


def test_before_typing_the_likely_ones_are_offered(graph: CategoryGraph) -> None:
    """Recent and likely classes once each; without any, the roots; removed ones are left out."""
    assert offered(graph, "", "Seal", "Gull", "Seal") == ["Seal", "Gull"]
    assert offered(graph, "  ") == ["Animal", "Plant"]
    assert class_ids_for(graph, "", first=[999]) == list(graph.roots())


def test_the_better_fit_wins_then_what_is_offered(graph: CategoryGraph) -> None:
    """Typing "gull" offers Gull before Herring Gull, even if that is more likely."""
    assert offered(graph, "gull", "Herring Gull") == ["Gull", "Herring Gull"]
    assert offered(graph, "l", "Seal")[0] == "Seal"
    assert offered(graph, "whale") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bird/Gull", ["Gull", "Herring Gull"]),
        ("animal / herring", ["Herring Gull"]),
        ("div/puff", ["Puffin"]),
        ("plant/puff", []),
        ("Diver/", ["Puffin", "Seal"]),
        ("/", []),
    ],
)
def test_a_path_narrows(text: str, names: list[str], graph: CategoryGraph) -> None:
    """Each part of the path is the prefix of an ancestor's name."""
    assert offered(graph, text) == names


def test_a_row_shows_by_which_id_or_synonym_it_was_found(graph: CategoryGraph) -> None:
    """The matching id or synonym is shown, also below a typed path, but no matching name."""
    graph.set_attributes(graph.find("Gull"), ClassAttributes("n02041246", ("Larus", "gull bird")))
    graph.set_attributes(graph.find("Puffin"), ClassAttributes(synonyms=("Larus arcticus",)))

    def titles(text: str) -> list[str]:
        return [row.title for row in class_rows(graph, text)]

    assert titles("larus") == ["Gull (Larus)", "Puffin (Larus arcticus)"]
    assert titles("N02041246") == ["Gull (n02041246)"]
    assert titles("bird/lar") == ["Gull (Larus)", "Puffin (Larus arcticus)"]
    assert titles("gull") == ["Gull", "Herring Gull"]
    assert class_rows(graph, "larus")[0].choice == graph.find("Gull")
    assert (
        class_rows(graph, "lar", first=[graph.find("Puffin")])[0].title == "Puffin (Larus arcticus)"
    )


@pytest.mark.slow
def test_never_more_rows_than_a_person_reads() -> None:
    """Ten thousand matches are cut."""
    graph = big_graph(10_000)
    assert len(class_ids_for(graph, "class")) == ROW_LIMIT


def test_the_last_row_creates_what_is_not_there(graph: CategoryGraph) -> None:
    """Under the shown class or the parents of a typed path; not for an existing class."""
    bird, diver = graph.find("Bird"), graph.find("Diver")
    assert create_choice(graph, " Auk ", under=bird) == CreateChoice("Auk", bird)
    assert create_choice(graph, "Auk", under=None) == CreateChoice("Auk", None)
    assert create_choice(graph, "Diver/Auk", under=bird) == CreateChoice("Auk", diver)
    assert create_choice(graph, "Animal/Diver/Auk", under=None) == CreateChoice("Auk", diver)
    assert create_choice(graph, "Gull", under=bird) is None
    assert create_choice(graph, "Gull", under=diver) == CreateChoice("Gull", diver)


@pytest.mark.parametrize("text", ["", "   ", "Bird/", "a\tb", "\n"])
def test_what_cannot_be_a_name_creates_nothing(text: str, graph: CategoryGraph) -> None:
    """No row for an empty name or control characters."""
    assert create_choice(graph, text, under=None) is None


def test_an_unknown_parent_creates_nothing_at_the_wrong_place(graph: CategoryGraph) -> None:
    """A mistyped parent must not create a root class."""
    assert create_choice(graph, "Brid/Auk", under=None) is None


def test_where_a_class_stands(graph: CategoryGraph) -> None:
    """The text has the first path to it, and the number of others."""
    assert place_of(graph, graph.find("Gull")) == "Animal / Bird"
    assert place_of(graph, graph.find("Puffin")) == "Animal / Bird  +1"
    assert place_of(graph, graph.find("Animal")) == ""


def test_commands_hold_every_typed_word() -> None:
    """Words match in any order; prefixes come first."""
    rows = [
        PaletteRow(title, "", "", "", title)
        for title in ("Add images", "Images to add", "Undo: Add")
    ]
    assert [row.title for row in commands_for(rows, "images")] == ["Images to add", "Add images"]
    assert [row.title for row in commands_for(rows, "ADD ima")] == ["Add images", "Images to add"]
    assert commands_for(rows, "quit") == []
    assert commands_for(rows, "") == rows


def test_a_class_of_that_very_name_comes_before_commands_that_have_it_in_their_title(
    graph: CategoryGraph,
) -> None:
    """Text "gull" finds Gull before "New class under Gull"; "new" finds the command."""
    commands = [
        PaletteRow(title, "", "", "", title) for title in ("New class under Gull", "Gull watch")
    ]
    titles = [row.title for row in found_rows(commands, class_rows(graph, "gull"), "gull")]
    assert titles == ["Gull watch", "Gull", "New class under Gull", "Herring Gull"]


def test_a_row_says_what_enter_does_with_it(graph: CategoryGraph) -> None:
    """The hint covers an existing class, a new one, and a new word with a locked class list."""
    labels = label_rows(graph, "Auk", under=graph.find("Bird"))
    assert [row.act_text for row in labels] == ["Create “Auk” under Bird"]
    assert [row.act_text for row in label_rows(graph, "herring")] == [
        "Label as Herring Gull",
        "Create “herring” top level",
    ]
    (asked,) = label_rows(graph, "Pufin", is_locked=True)
    assert (asked.title, asked.act_text) == (
        "“Pufin” is not in the class list…",
        "Ask whether to add “Pufin”",
    )
    assert isinstance(asked.choice, AskChoice)
    answers = asked.choice.answers()
    assert [row.title for row in answers] == [
        "Puffin",
        "Do not add it",
        "Add “Pufin” to the class list",
    ]
    assert answers[-1].choice == CreateChoice("Pufin", None)
    assert class_rows(graph, "gull", key_text=str)[0].hint == "0"
