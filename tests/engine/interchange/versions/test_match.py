"""Which class of a new version is which class of before."""

import pytest

from engine.interchange.imported import ImportedGraph
from engine.interchange.versions.match import Matching, alike_names
from tests.support.sources import imported_project, source_of

BIRDS = {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Tern": ["Bird"], "Seal": ["Animal"]}
IDS = {name: f"n{number}" for number, name in enumerate(BIRDS)}


def matched(before: ImportedGraph, after: ImportedGraph) -> dict[str, str | None]:
    """For each key of the new version the name that its class had before; None for a new class."""
    graph, base = imported_project(before)
    found = Matching(graph, after, base).class_ids
    return {
        each.key: graph.name(found[each.key]) if each.key in found else None
        for each in after.classes
    }


def successors(
    before: ImportedGraph, after: ImportedGraph
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], list[str]]:
    """By name: the classes of before that were merged, that were split, and that are gone."""
    graph, base = imported_project(before)
    found = Matching(graph, after, base)
    merged = {graph.name(each): key for each, key in found.merged.items()}
    return (
        merged,
        {graph.name(each): keys for each, keys in found.split.items()},
        [graph.name(e) for e in found.gone],
    )


def test_the_same_version_matches_whole() -> None:
    """Each class is its own, with ids and without; nothing is gone."""
    for ids in (IDS, {}):
        source = source_of(BIRDS, ids=ids)
        assert matched(source, source) == {name: name for name in BIRDS}
        assert successors(source, source) == ({}, {}, [])


def test_source_ids_come_first() -> None:
    """A class is matched by its id with a new name and place, though another has its name."""
    after = source_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Larus": ["Animal"],
            "Gull": ["Bird"],
            "Tern": ["Bird"],
            "Seal": ["Animal"],
        },
        ids={**IDS, "Larus": "n2", "Gull": "n9"},
    )
    found = matched(source_of(BIRDS, ids=IDS), after)
    assert (found["Larus"], found["Gull"]) == ("Gull", None)


def test_renumbered_ids_do_not_count() -> None:
    """A row number is no id: after a row was put in, most ids stand at another class's name."""
    after = source_of(
        {"Plant": [], **BIRDS},
        ids={name: f"n{number}" for number, name in enumerate(("Plant", *BIRDS))},
    )
    assert matched(source_of(BIRDS, ids=IDS), after) == {
        "Plant": None,
        **{name: name for name in BIRDS},
    }


def test_a_name_that_is_elsewhere_now_was_moved() -> None:
    """Without ids the name tells, where it is one class before and one now."""
    after = source_of({**BIRDS, "Seal": ["Bird"]})
    assert matched(source_of(BIRDS), after)["Seal"] == "Seal"


def test_a_name_with_another_id_is_another_class() -> None:
    """Where ids hold, a colour that is gone is no fruit that is new."""
    ids = {"Colour": "c", "Orange": "o", "Red": "r"}
    before = source_of({"Colour": [], "Orange": ["Colour"], "Red": ["Colour"]}, ids=ids)
    after = source_of(
        {"Colour": [], "Red": ["Colour"], "Fruit": [], "Orange": ["Fruit"]},
        ids={**ids, "Orange": "f"},
    )
    assert matched(before, after)["Orange"] is None


def test_namesakes_are_distinguished_by_what_is_below_them() -> None:
    """Two moved classes "Other" are not swapped; without children neither is matched."""
    before = source_of(
        {
            "A": [],
            "B": [],
            "A/Other": ["A"],
            "B/Other": ["B"],
            "a1": ["A/Other"],
            "b1": ["B/Other"],
            "C": [],
        }
    )
    after = source_of(
        {
            "C": [],
            "D": ["C"],
            "E": ["C"],
            "D/Other": ["D"],
            "E/Other": ["E"],
            "a1": ["D/Other"],
            "b1": ["E/Other"],
        }
    )
    graph, base = imported_project(before)
    found = Matching(graph, after, base).class_ids
    assert graph.path_text(found["D/Other"]) == "A/Other"
    assert graph.path_text(found["E/Other"]) == "B/Other"
    bare = source_of({"A": [], "B": [], "A/Other": ["A"], "B/Other": ["B"], "C": []})
    moved = source_of({"C": [], "D": ["C"], "E": ["C"], "D/Other": ["D"], "E/Other": ["E"]})
    assert matched(bare, moved)["D/Other"] is None


@pytest.mark.parametrize("new_name", ["Gulls", "gull", "Gull-s"])
def test_another_spelling_in_the_same_place(new_name: str) -> None:
    """Case, plural and punctuation make no new class; a short name needs the same letters."""
    after = source_of(
        {key if key != "Gull" else new_name: parents for key, parents in BIRDS.items()}
    )
    expected = "Gull" if new_name == "gull" else None
    assert matched(source_of(BIRDS), after)[new_name] == expected
    long_before = source_of({**BIRDS, "Oystercatcher": ["Bird"]})
    long_after = source_of({**BIRDS, "Oyster-catchers": ["Bird"]})
    assert matched(long_before, long_after)["Oyster-catchers"] == "Oystercatcher"


def test_a_synonym_names_the_class_of_before() -> None:
    """A new name that says its old one; or an old one that knew the new."""
    after = source_of(
        {"Animal": [], "Bird": ["Animal"], "Larus": ["Bird"], "Tern": ["Bird"], "Seal": ["Animal"]},
        synonyms={"Larus": ["Gull"]},
    )
    assert matched(source_of(BIRDS), after)["Larus"] == "Gull"
    known = source_of(BIRDS, synonyms={"Gull": ["Larus"]})
    renamed = source_of(
        {"Larus" if name == "Gull" else name: parents for name, parents in BIRDS.items()}
    )
    assert matched(known, renamed)["Larus"] == "Gull"


def test_a_coarse_class_is_known_by_its_children() -> None:
    """Half of the children in common match a renamed class, and classes of its name below it."""
    before = source_of({**BIRDS, "Bird/Other": ["Bird"], "Seal/Other": ["Seal"]})
    after = source_of(
        {
            "Animal": [],
            "Aves": ["Animal"],
            "Gull": ["Aves"],
            "Tern": ["Aves"],
            "Auk": ["Aves"],
            "Aves/Other": ["Aves"],
            "Seal": ["Animal"],
            "Seal/Other": ["Seal"],
        }
    )
    found = matched(before, after)
    assert (found["Aves"], found["Gull"], found["Auk"], found["Aves/Other"]) == (
        "Bird",
        "Gull",
        None,
        "Other",
    )


def test_two_classes_in_one() -> None:
    """The one with more in common is the class under its new name; the other was merged into it."""
    before = source_of(
        {**BIRDS, "Auk": ["Bird"], "Wader": ["Animal"], "Curlew": ["Wader"], "Snipe": ["Wader"]}
    )
    after = source_of(
        {
            "Animal": [],
            "Seabird": ["Animal"],
            "Gull": ["Seabird"],
            "Tern": ["Seabird"],
            "Auk": ["Seabird"],
            "Curlew": ["Seabird"],
            "Snipe": ["Seabird"],
            "Seal": ["Animal"],
        }
    )
    assert matched(before, after)["Seabird"] == "Bird"
    assert successors(before, after) == ({"Wader": "Seabird"}, {}, [])
    lumped = source_of(
        {name: parents for name, parents in BIRDS.items() if name != "Tern"},
        synonyms={"Gull": ["Tern"]},
    )
    assert successors(source_of(BIRDS), lumped) == ({"Tern": "Gull"}, {}, [])


def test_a_synonym_that_was_there_before_merges_nothing() -> None:
    """Words are ambiguous: the bank of a river does not replace a bank that is gone."""
    before = source_of(
        {**BIRDS, "Diver": ["Bird"], "Loon": ["Animal"]}, synonyms={"Loon": ["Diver"]}
    )
    after = source_of({**BIRDS, "Loon": ["Animal"]}, synonyms={"Loon": ["Diver"]})
    assert successors(before, after) == ({}, {}, ["Diver"])


def test_one_class_in_two() -> None:
    """By synonyms, by names that say more, or by where its children are."""
    rest = {name: parents for name, parents in BIRDS.items() if name != "Gull"}
    by_name = source_of({**rest, "Herring gull": ["Bird"], "Common gull": ["Bird"]})
    by_synonym = source_of(
        {**rest, "Larus": ["Bird"], "Rissa": ["Bird"]},
        synonyms={"Larus": ["Gull"], "Rissa": ["Gull"]},
    )
    assert successors(source_of(BIRDS), by_name) == (
        {},
        {"Gull": ("Herring gull", "Common gull")},
        [],
    )
    assert successors(source_of(BIRDS), by_synonym) == ({}, {"Gull": ("Larus", "Rissa")}, [])
    no_bird = {"Animal": [], "Seal": ["Animal"], "Coast": ["Animal"], "Sea": ["Animal"]}
    by_children = source_of({**no_bird, "Gull": ["Coast"], "Tern": ["Sea"]})
    assert successors(source_of(BIRDS), by_children) == ({}, {"Bird": ("Coast", "Sea")}, [])


def test_a_group_that_was_dissolved_is_gone() -> None:
    """Its children went to its parent, which is no merge."""
    after = source_of({"Animal": [], "Gull": ["Animal"], "Tern": ["Animal"], "Seal": ["Animal"]})
    assert successors(source_of(BIRDS), after) == ({}, {}, ["Bird"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gull 1", "Gull 2"),
        ("male", "female"),
        ("Left", "Lift"),
        ("Blue disc", "Red disc"),
        ("", ""),
    ],
)
def test_names_that_are_two(one: str, other: str) -> None:
    """Numbers, short words and other beginnings make two names."""
    assert alike_names(one, other) == 0
