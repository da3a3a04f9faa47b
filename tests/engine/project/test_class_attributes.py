"""Notes and colours of classes: stored, normalised, reported, undone."""

from pathlib import Path

import pytest

from engine.errors import GraphError, InputError, UnknownClassError
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import AttributesChanged, ClassRemoved
from engine.project import Project
from tests.support.projects import bird_project, dump

SEEN = ClassAttributes(note="Seen in May.\nTwice in June.", colour="#00ff7f")


def test_they_are_there_after_reopening_and_go_with_undo(tmp_path: Path) -> None:
    """Each change is one step that names the class."""
    project, gull, _ = bird_project(tmp_path)
    change = project.classes.set_attributes([gull], note=SEEN.note, colour=SEEN.colour)
    news = NO_ATTRIBUTES.differences(SEEN)
    assert change.text == "Changed note and colour of Gull"
    assert change.graph_edits == (AttributesChanged(gull, news, SEEN.differences(NO_ATTRIBUTES)),)
    assert (change.is_empty, change.policies) == (False, ())
    project.close()
    with Project.open(project.path) as reopened:
        assert (dict(reopened.classes.graph.all_attributes()), reopened.check()) == (
            {gull: SEEN},
            [],
        )
        undone = reopened.history.undo()
        assert undone is not None
        assert undone.graph_edits == (
            AttributesChanged(gull, SEEN.differences(NO_ATTRIBUTES), news),
        )
        assert dict(reopened.classes.graph.all_attributes()) == {}
        reopened.history.redo()
        assert dict(reopened.classes.graph.all_attributes()) == {gull: SEEN}


def test_details_that_say_nothing_are_none(tmp_path: Path) -> None:
    """An empty note deletes the row; an equal value is no step."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        before = dump(project)
        assert project.classes.set_attributes([gull], note=" \n").is_empty
        project.classes.set_attributes([gull], note="seen")
        assert project.classes.set_attributes([gull], note="seen ").is_empty
        assert (
            project.classes.set_attributes([gull], note="seen", colour="#102030").text
            == "Changed the colour of Gull"
        )
        project.classes.set_attributes([gull], note="", colour="")
        assert dump(project) == before


def test_notes_have_plain_line_breaks_and_colours_lower_case(tmp_path: Path) -> None:
    """Line breaks and colours are normalised."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        project.classes.set_attributes(
            [gull], note="\r\none\r\ntwo\rthree\tfour\u2028five ", colour=" #A0B0C0 "
        )
        assert dict(project.classes.graph.all_attributes())[gull] == ClassAttributes(
            note="one\ntwo\nthree\tfour\nfive", colour="#a0b0c0"
        )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (ClassAttributes(note="x" * 10_001), "too long"),
        (ClassAttributes(note="a\0b"), "control characters"),
        (ClassAttributes(note="a\ud800b"), "control characters"),
        (ClassAttributes(colour="red"), "not a colour"),
        (ClassAttributes(colour="#12345"), "not a colour"),
        (ClassAttributes(colour="#12345\n#"), "not a colour"),
    ],
)
def test_what_no_file_should_hold_is_refused(
    tmp_path: Path, attributes: ClassAttributes, message: str
) -> None:
    """With a reason, and without a change."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        before = dump(project)
        with pytest.raises(InputError, match=message):
            project.classes.set_attributes([gull], note=attributes.note, colour=attributes.colour)
        assert dump(project) == before


def test_many_classes_are_described_at_once(tmp_path: Path) -> None:
    """One step; an unknown class refuses all, an empty list is no step."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        (bird,) = project.classes.graph.parents(gull)
        blue = ClassAttributes(colour="#0000ff")
        change = project.classes.set_attributes([bird, gull], colour=blue.colour)
        assert (change.text, len(change.graph_edits)) == ("Changed the colour of 2 classes", 2)
        with pytest.raises(UnknownClassError):
            project.classes.set_attributes([bird, 999], note="Seen")
        with pytest.raises(GraphError, match="no class"):
            project.classes.set_attributes([], note="Seen")
        assert dict(project.classes.graph.all_attributes()) == {bird: blue, gull: blue}


def test_a_removed_class_takes_them_along(tmp_path: Path) -> None:
    """They are removed and restored with the class."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        project.classes.set_attributes([gull], note=SEEN.note, colour=SEEN.colour)
        before = dump(project)
        change = project.classes.remove([gull])
        assert isinstance(change.graph_edits[-1], ClassRemoved)
        assert (dict(project.classes.graph.all_attributes()), project.check()) == ({}, [])
        project.history.undo()
        assert dump(project) == before


def test_source_id_and_synonyms_are_set_by_hand(tmp_path: Path) -> None:
    """One step each, described by its text; the class is found by them."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        assert (
            project.classes.set_attributes([gull], synonyms=("Larus", "Gull")).text
            == "Changed the synonyms of Gull"
        )
        assert (
            project.classes.set_attributes([gull], source_id="n1", synonyms=("Larus",)).text
            == "Changed the source id of Gull"
        )
        assert project.classes.graph.find("Larus") == project.classes.graph.find("n1") == gull
        assert project.classes.set_attributes([gull], source_id="n1", synonyms=("Larus",)).is_empty
        with pytest.raises(UnknownClassError):
            project.classes.set_attributes([999], source_id="n1")
        project.history.undo()
        assert project.classes.graph.attributes(gull) == ClassAttributes(synonyms=("Larus",))


def test_one_class_and_all_colours_are_read_by_themselves(tmp_path: Path) -> None:
    """Without any the details are empty; notes alone are no colours."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        bird = project.classes.graph.find("Bird")
        project.classes.set_attributes([gull], note=SEEN.note, colour=SEEN.colour)
        project.classes.set_attributes([bird], note="Only a note.")
        assert (project.classes.graph.attributes(gull), project.classes.graph.attributes(bird)) == (
            SEEN,
            ClassAttributes(note="Only a note."),
        )
        _, tern = project.classes.add("Tern", [bird])
        assert project.classes.graph.attributes(tern) == ClassAttributes()
        assert project.classes.colours() == {gull: SEEN.colour}


def test_a_rank_is_kept_copied_and_taken_back(tmp_path: Path) -> None:
    """Stored, copied with the class, undone and redone."""
    project, gull, _ = bird_project(tmp_path)
    assert (
        project.classes.set_attributes([gull], rank=" species ").text == "Changed the rank of Gull"
    )
    project.close()
    with Project.open(project.path) as reopened:
        assert reopened.classes.graph.attributes(gull) == ClassAttributes(rank="species")
        _, (copy,) = reopened.classes.paste(reopened.classes.copied([gull]), None)
        assert reopened.classes.graph.attributes(copy).rank == "species"
        reopened.history.undo()
        reopened.history.undo()
        assert reopened.classes.graph.attributes(gull) == NO_ATTRIBUTES
        reopened.history.redo()
        assert (reopened.classes.graph.attributes(gull).rank, reopened.check()) == ("species", [])
