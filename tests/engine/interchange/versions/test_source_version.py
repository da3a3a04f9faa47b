"""What a source held, kept as text and found again."""

from dataclasses import replace

import pytest

from engine.errors import ProjectDamagedError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.versions.source_version import likely_base, unpacked
from tests.support.sources import imported_project, source_of

FRUIT = {"Fruit": [], "Apple": ["Fruit"], "Pear": ["Fruit"], "Melon": ["Fruit"]}
BIRDS = {"Bird": [], "Gull": ["Bird"], "Tern": ["Bird"]}


def test_packed_and_unpacked_is_the_same() -> None:
    """Names of all scripts, ids and ranks and several parents."""
    source = source_of(
        {"Obst": [], "りんご": ["Obst"], "Süß": ["Obst", "りんご"]}, ids={"Süß": "n7"}
    )
    first, *others = source.classes
    source = replace(
        source, classes=(replace(first, attributes=ClassAttributes("n1", rank="genus")), *others)
    )
    _, version = imported_project(source, "früchte.csv")
    assert unpacked(version.packed()) == version


@pytest.mark.parametrize("text", ["", "no base64 !", "bm9uZQ==", "eJyrVkrOSSwuVrKKjo4FACqkBTk="])
def test_anything_else_is_refused(text: str) -> None:
    """Rotten text is damage, not a crash."""
    with pytest.raises(
        ProjectDamagedError, match="last version of an imported taxonomy cannot be read"
    ):
        unpacked(text)


def test_the_base_is_the_version_that_is_alike() -> None:
    """By names or by ids, whatever the files are called; none where nothing is alike."""
    _, fruit = imported_project(source_of(FRUIT))
    _, birds = imported_project(source_of(BIRDS, ids={"Bird": "a", "Gull": "b", "Tern": "c"}))
    known = [fruit, birds]
    assert likely_base(known, source_of({**FRUIT, "Plum": ["Fruit"]})) is fruit
    renamed = source_of({"Vogel": [], "Möwe": ["Vogel"]}, ids={"Vogel": "a", "Möwe": "b"})
    assert likely_base(known, renamed) is birds
    assert likely_base(known, source_of({"Car": [], "Bus": ["Car"], "Gull": ["Car"]})) is None
    assert likely_base([], source_of(BIRDS)) is None


def test_a_part_of_a_source_leaves_the_rest_remembered() -> None:
    """Importing a smaller file keeps the rest of a known version."""
    _, whole = imported_project(source_of(FRUIT))
    _, part = imported_project(source_of({"Fruit": [], "Apple": ["Fruit"]}), "part.csv")
    both = part.completed_by(whole)
    assert (both.name, {each.name for each in both.classes.values()}) == ("part.csv", set(FRUIT))
    assert part.completed_by(None) is part
