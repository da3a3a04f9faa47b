"""Notes and colours of classes: kept, cleaned, told, taken back."""

from pathlib import Path

import pytest

from engine.errors import GraphError, InputError, UnknownClassError
from engine.graph.aliases import Aliases
from engine.project import ClassDetails, Project
from tests.support.projects import bird_project, dump

SEEN = ClassDetails("Seen in May.\nTwice in June.", "#00ff7f")


def test_they_are_there_after_reopening_and_go_with_undo(tmp_path: Path) -> None:
    """One step for each change, told as a change of that class alone."""
    project, gull, _ = bird_project(tmp_path)
    change = project.classes.set_details({gull: SEEN})
    assert (change.text, change.details, change.graph_edits) == ("Changed note and colour of Gull", (gull,), ())
    assert not change.is_empty
    project.close()
    with Project.open(project.path) as reopened:
        assert (reopened.classes.details(), reopened.check()) == ({gull: SEEN}, [])
        undone = reopened.history.undo()
        assert undone is not None
        assert (undone.details, reopened.classes.details()) == ((gull,), {})
        reopened.history.redo()
        assert reopened.classes.details() == {gull: SEEN}


def test_details_that_say_nothing_are_none(tmp_path: Path) -> None:
    """An emptied note takes its row away; the same again is no step."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        before = dump(project)
        assert project.classes.set_details({gull: ClassDetails(" \n")}).is_empty
        project.classes.set_details({gull: ClassDetails("seen")})
        assert project.classes.set_details({gull: ClassDetails("seen ")}).is_empty
        assert project.classes.set_details({gull: ClassDetails("seen", "#102030")}).text == "Changed the colour of Gull"
        project.classes.set_details({gull: ClassDetails()})
        assert dump(project) == before


def test_notes_have_plain_line_breaks_and_colours_lower_case(tmp_path: Path) -> None:
    """However they were typed or pasted."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        project.classes.set_details({gull: ClassDetails("\r\none\r\ntwo\rthree\tfour\u2028five ", " #A0B0C0 ")})
        assert project.classes.details()[gull] == ClassDetails("one\ntwo\nthree\tfour\nfive", "#a0b0c0")


@pytest.mark.parametrize(
    ("details", "told"),
    [
        (ClassDetails("x" * 10_001), "too long"),
        (ClassDetails("a\0b"), "control characters"),
        (ClassDetails("a\ud800b"), "control characters"),
        (ClassDetails(colour="red"), "no colour"),
        (ClassDetails(colour="#12345"), "no colour"),
        (ClassDetails(colour="#12345\n#"), "no colour"),
    ],
)
def test_what_no_file_should_hold_is_refused(tmp_path: Path, details: ClassDetails, told: str) -> None:
    """With what is wrong, and nothing changed."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        before = dump(project)
        with pytest.raises(InputError, match=told):
            project.classes.set_details({gull: details})
        assert dump(project) == before


def test_many_classes_are_described_at_once(tmp_path: Path) -> None:
    """One step; a class that is not there refuses all of them, and no class is no step."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        (bird,) = project.classes.graph.parents(gull)
        blue = ClassDetails(colour="#0000ff")
        change = project.classes.set_details({bird: blue, gull: blue})
        assert (change.text, set(change.details)) == ("Changed the colour of 2 classes", {bird, gull})
        with pytest.raises(UnknownClassError):
            project.classes.set_details({bird: SEEN, 999: SEEN})
        with pytest.raises(GraphError, match="no class"):
            project.classes.set_details({})
        assert project.classes.details() == {bird: blue, gull: blue}
        assert project.classes.set_details({gull: SEEN}, text="Imported notes").text == "Imported notes"


def test_a_removed_class_takes_them_along(tmp_path: Path) -> None:
    """Removed with the class, and back with it."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        project.classes.set_details({gull: SEEN})
        before = dump(project)
        change = project.classes.remove([gull])
        assert (change.details, project.classes.details(), project.check()) == ((gull,), {}, [])
        project.history.undo()
        assert dump(project) == before


def test_source_id_and_synonyms_are_set_by_hand(tmp_path: Path) -> None:
    """One step each, with a text that says which; the class is found by them."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        assert project.classes.set_aliases(gull, Aliases("", ("Larus", "Gull"))).text == "Changed the synonyms of Gull"
        assert project.classes.set_aliases(gull, Aliases("n1", ("Larus",))).text == "Changed the source id of Gull"
        assert project.classes.graph.find("Larus") == project.classes.graph.find("n1") == gull
        assert project.classes.set_aliases(gull, Aliases("n1", ("Larus",))).is_empty
        with pytest.raises(UnknownClassError):
            project.classes.set_aliases(999, Aliases("n1"))
        project.history.undo()
        assert project.classes.graph.aliases(gull) == Aliases("", ("Larus",))


def test_one_class_and_all_colours_are_read_by_themselves(tmp_path: Path) -> None:
    """A class without any has empty details; notes without a colour are no colours."""
    project, gull, _ = bird_project(tmp_path)
    with project:
        bird = project.classes.graph.find("Bird")
        project.classes.set_details({gull: SEEN})
        project.classes.set_details({bird: ClassDetails("Only a note.")})
        assert (project.classes.details_of(gull), project.classes.details_of(bird)) == (
            SEEN,
            ClassDetails("Only a note."),
        )
        _, tern = project.classes.add("Tern", [bird])
        assert project.classes.details_of(tern) == ClassDetails()
        assert project.classes.colours() == {gull: SEEN.colour}
