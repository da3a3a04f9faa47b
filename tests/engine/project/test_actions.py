"""Actions: codes and arguments in the file, translated texts on the screen; old texts stay."""

import json
from pathlib import Path
from string import Formatter

import pytest

from engine.errors import ProjectDamagedError
from engine.project import Action, ClassPolicy, Project, SplitPart
from engine.project.actions import (
    ACTIONS,
    action,
    added,
    attributes_changed,
    old_action,
    one_or_count,
    stored_action,
)
from engine.texts import translate_with
from tests.support.projects import (
    bird_project,
    change_file,
    connection_of,
    found_files,
    trained_model,
)


@pytest.mark.parametrize(
    ("done", "past", "command"),
    [
        (
            action("labelled", "Gull", images=3),
            "Labelled 3 images as Gull",
            "Label 3 images as Gull",
        ),
        (action("labelled", "Gull", images=1), "Labelled 1 image as Gull", "Label 1 image as Gull"),
        (
            action("labelled", "Lemon", images=72, relabelled=24),
            "Labelled 72 images as Lemon (24 had another label)",
            "Label 72 images as Lemon (24 had another label)",
        ),
        (
            action("class_created", "Lemon", images=2, relabelled=1),
            "Created class Lemon with 2 images (1 had another label)",
            "Create class Lemon with 2 images (1 had another label)",
        ),
        (
            action("classes_moved_to_top", chosen="Gull"),
            "Moved class Gull to the top level",
            "Move class Gull to the top level",
        ),
        (
            action("classes_moved", chosen=2, parent="Bird"),
            "Moved 2 classes to Bird",
            "Move 2 classes to Bird",
        ),
        (
            action("classes_moved_from", chosen="Gull", parents="Bird", parent="Auk"),
            "Moved class Gull from Bird to Auk",
            "Move class Gull from Bird to Auk",
        ),
        (
            action("class_split", "Gull", classes="Tern", labels=12),
            "Split Tern off Gull (12 labels moved)",
            "Split Tern off Gull (12 labels moved)",
        ),
        (
            action("classes_unlinked", classes="Gull", parents=2),
            "Unlinked Gull from 2 parents",
            "Unlink Gull from 2 parents",
        ),
        (
            attributes_changed(["note"], ["Gull"]),
            "Changed the note of Gull",
            "Change the note of Gull",
        ),
        (
            attributes_changed(["source_id"], ["Gull", "Auk"]),
            "Changed the source id of 2 classes",
            "Change the source id of 2 classes",
        ),
        (
            attributes_changed(["note", "rank"], ["Gull"]),
            "Changed note and rank of Gull",
            "Change note and rank of Gull",
        ),
        (
            attributes_changed([], ["Gull"]),
            "Changed the attributes of Gull",
            "Change the attributes of Gull",
        ),
        (
            action("stage_turned_on"),
            "Turned on learning from unlabelled images",
            "Turn on learning from unlabelled images",
        ),
        (
            old_action("Labelled 3 images as {class}"),
            "Labelled 3 images as {class}",
            "Label 3 images as {class}",
        ),
        (old_action("Restored"), "Restored", "Restored"),
        (action("of_a_newer_program", images=3), "of_a_newer_program", "of_a_newer_program"),
        (action("labelled", images=1), "Labelled 1 image as ?", "Label 1 image as ?"),
    ],
)
def test_words_of_an_action(done: Action, past: str, command: str) -> None:
    """Past tense for history and toasts, imperative for undo and redo.

    Also for texts of old versions and unusual ones.
    """
    assert (str(done), done.command) == (past, command)


@pytest.mark.parametrize(
    ("images", "labels", "class_names", "text"),
    [
        (2640, 0, (), "Added 2,640 images"),
        (1, 1, ("Gull",), "Added 1 image as Gull"),
        (40, 40, ("Gull", "Tern"), "Added 40 images in 2 classes"),
        (3, 2, (), "Added 3 images and 2 labels"),
        (0, 1, (), "Added 1 label"),
        (0, 0, (), "Added 0 images"),
    ],
)
def test_adding_images(images: int, labels: int, class_names: tuple[str, ...], text: str) -> None:
    """Counts of new images, and the class if there is only one."""
    assert str(added(images, labels, class_names)) == text


@pytest.mark.parametrize(
    ("done", "text"),
    [
        (action("classes_removed", chosen="Gull"), "Removed class Gull"),
        (
            action("classes_removed", chosen="Gull", labels=3, heir="Bird"),
            "Removed class Gull (3 labels moved to Bird)",
        ),
        (action("classes_removed", chosen="Gull", below_it=4), "Removed class Gull and 4 below it"),
        (
            action("classes_removed", chosen=2, below_them=1_200, labels_up=2, labels_gone=5),
            (
                "Removed 2 classes and 1,200 below them (2 labels moved to their parents, 5 labels "
                "removed)"
            ),
        ),
        (
            action("classes_pasted", chosen="Gull", below_it=12, parent="Bird"),
            "Pasted class Gull and 12 below it into Bird",
        ),
        (
            action("classes_updated", source="b.csv", new_classes=12, renamed=3),
            "Updated from b.csv: 12 new classes, 3 renamed",
        ),
        (
            action("classes_updated", source="b.csv", classes=1),
            "Updated from b.csv: synonyms of 1 class",
        ),
        (
            action(
                "edits_tried",
                edits=2,
                first=(action("class_added", "Gull"), action("stage_turned_on")),
            ),
            "Tried out 2 edits: Added class Gull; Turned on learning from unlabelled images",
        ),
    ],
)
def test_what_is_named_only_where_it_happened(done: Action, text: str) -> None:
    """Optional parts appear if the action has their numbers, also read from the file."""
    assert str(done) == text
    assert stored_action("", done.code, done.stored_arguments) == done


@pytest.mark.parametrize("code", ACTIONS)
def test_both_forms_say_the_same(code: str) -> None:
    """Imperative and past tense name the same things and differ in their verbs only."""
    text = ACTIONS[code]
    past, command = (
        [name for _, name, _, _ in Formatter().parse(form) if name]
        for form in (text.past, text.command)
    )
    assert past == command
    assert text.past.split()[1:] == text.command.split()[1:]
    assert code == code.lower()


@pytest.mark.parametrize("arguments", ["", "[]", '{"images": null}', '{"first": ["x"]}', "x"])
def test_arguments_that_cannot_be_read_are_damage(tmp_path: Path, arguments: str) -> None:
    """A check finds them, and the history says so."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    project.close()
    change_file(
        project.path,
        f"UPDATE journal_step SET arguments = '{arguments}' WHERE code = 'labelled'",  # noqa: S608
    )
    assert any(
        "an action in the history cannot be read" in line
        for line in Project.faults_of(project.path)
    )
    with pytest.raises(ProjectDamagedError):
        stored_action("", "labelled", arguments)


def test_one_is_named_and_several_are_counted() -> None:
    """One class is named, several are counted."""
    assert (one_or_count(["Gull"]), one_or_count(["Gull", "Auk"])) == ("Gull", 2)


def _do_everything(project: Project, gull: int, images: list[int]) -> None:
    classes, bird = project.classes, project.classes.graph.parents(gull)[0]
    _, tern = classes.add("Tern")
    classes.move([(tern, None)], bird)
    classes.move([(tern, bird)], None)
    classes.link(bird, [tern])
    classes.unlink([(bird, tern)])
    classes.rename(tern, "Sea swallow")
    classes.add_parent("Waders", [gull], bird)
    classes.set_attributes([gull], source_id="n1")
    classes.set_attributes([gull], synonyms=("Larus",), rank="genus")
    classes.set_attributes([gull], note="Grey.", colour="#00ff7f")
    classes.set_attributes([gull, tern], rank="species")
    classes.set_attributes([gull], note="", colour="")
    project.policies.set(gull, ClassPolicy(0.9))
    project.policies.set(gull, ClassPolicy(0.9, is_deepest=True))
    project.policies.set(gull, ClassPolicy(0.9))
    project.policies.set_setting("setting", "ppn")
    project.labels.set(images[:3], gull)
    project.labels.set(images[3:4], None)
    classes.split(gull, [SplitPart("Mew", images[:1])], as_children=True)
    classes.paste(classes.copied([gull]), tern)
    classes.merge([tern], gull)
    project.labels.remove(images[:1])
    project.images.add_labelled(found_files(project.path.parent, 1, start=50), [gull])
    project.images.relink([(images[0], found_files(project.path.parent, 1, start=60)[0])])
    project.models.choose(project.models.add_trained(trained_model()).version_id)
    project.what_if.begin()
    classes.add("Auk")
    classes.add("Diver")
    project.what_if.keep(
        action("edits_tried", edits=2, first=tuple(step.action for step in project.history.steps()))
    )
    classes.remove([gull])
    project.images.remove(images)


def test_no_sentence_is_in_the_history(tmp_path: Path) -> None:
    """Every kind of action stores a code, names and numbers, and no sentence."""
    project, gull, images = bird_project(tmp_path)
    with project:
        _do_everything(project, gull, list(images))
        rows = connection_of(project).rows("SELECT text, code, arguments FROM journal_step")
        actions = [step.action for step in project.history.steps(1_000)]
        assert project.check() == []
    assert {text for text, _, _ in rows} == {""}
    assert {code for _, code, _ in rows} <= ACTIONS.keys()
    assert len({code for _, code, _ in rows}) >= 25
    words = {
        word
        for text in ACTIONS.values()
        for word in text.past.split()
        if word.istitle() and "{" not in word
    }
    for _, _, arguments in rows:
        assert not words & set(json.dumps(json.loads(arguments)).split())
    assert all("?" not in str(each) for each in actions)


def test_arguments_are_cut_where_they_are_absurdly_long() -> None:
    """Very long arguments are truncated in the history."""
    done = action("labels_imported_from", labels=3, source="x" * 5_000)
    assert len(str(stored_action("", done.code, done.stored_arguments))) < 1_100


def test_names_that_people_see_take_the_place_of_those_in_the_project() -> None:
    """Display names of classes, also in nested actions.

    Renaming shows the stored names.
    """
    shown_as = {"Gull": "Möwe", "Bird": "Vogel"}.get
    named = [
        (action("classes_moved", chosen="Gull", parent="Bird"), "Moved class Möwe to Vogel"),
        (action("classes_moved", chosen=2, parent="Auk"), "Moved 2 classes to Auk"),
        (action("labels_imported_from", labels=2, source="Gull"), "Imported 2 labels from Gull"),
        (action("class_renamed", "Gull", name="Bird"), "Renamed class Gull to Bird"),
        (
            action("edits_tried", edits=1, first=(action("class_added", "Gull"),)),
            "Tried out 1 edit: Added class Möwe",
        ),
        (old_action("Labelled 1 image as Gull"), "Labelled 1 image as Gull"),
    ]
    for done, text in named:
        assert str(done.with_names(lambda name: shown_as(name, name))) == text


def test_chinese_names_close_up_with_the_words_around_them() -> None:
    """Without spaces, as do optional parts."""
    texts = {
        "Removed {chosen}": "已移除 {chosen}",
        "class {name}": "类别 {name}",
        " and {below_it} below it": " 及其下 {below_it} 个类别",
    }
    translate_with(lambda text, _count: texts.get(text, ""))
    try:
        removed = [
            str(action("classes_removed", chosen=name, below_it=4)) for name in ("雏菊", "Bellis")
        ]
    finally:
        translate_with(None)
    assert removed == ["已移除类别雏菊及其下 4 个类别", "已移除类别 Bellis 及其下 4 个类别"]
