"""Merging another person's copy: new, equal and different labels.

Ours are not replaced.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.graph.codes import UNKNOWN
from engine.merging.image_match import MatchedBy
from engine.merging.merge import merge
from engine.merging.merge_plan import ConflictKind, MergePlan, Preference, Verdict
from engine.merging.planning import open_other, plan_merge
from engine.merging.settled import settle, settle_comment
from engine.project import ClassPolicy, Project
from tests.support.copies import content, copied, labels_of, read, stranger, two_copies
from tests.support.labelled_images import draw
from tests.support.projects import connection_of, dump, found_files

Copies = tuple[Project, Project]


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return two_copies(tmp_path)


def plan_of(ours: Project, theirs: Project) -> MergePlan:
    with open_other(ours.path, theirs.path) as other:
        return plan_merge(ours, other)


def test_labels_and_classes_of_the_other_come_in_as_they_are(copies: Copies) -> None:
    """With author, time and source, and with their new class.

    One undo reverts all.
    """
    ada, ben = copies
    before = dump(ada)
    _, heron = ben.classes.add("Heron", [1])
    ben.classes.set_attributes([heron], note="Grey ones.", source_id="n02009229")
    ben.labels.set([3, 4], heron, who="ben", source="import")
    ben.labels.set([5], None, who="ben")
    done = merge(ada, ben.path)
    assert str(done.change.action) == "Merged birds.protoleaf: 3 labels, 1 new class"
    assert [labels_of(ada)[each] for each in (3, 4, 5)] == [("Bird/Heron", "ben")] * 2 + [
        ("", "ben")
    ]
    theirs, ours = ben.labels.of(3), ada.labels.of(3)
    assert theirs is not None
    assert ours is not None
    assert (ours.when, ours.source) == (theirs.when, "import")
    assert ada.classes.graph.attributes(ada.classes.graph.find("Heron")).note == "Grey ones."
    assert ada.backups.newest() is not None
    ada.history.undo()
    assert dump(ada) == before


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_merged_class_is_known_again(copies: Copies, tmp_path: Path, is_copy: bool) -> None:
    """Renamed and moved here, it matches again; removed here, it stays removed."""
    ada, ben = copies
    other = ben if is_copy else stranger(tmp_path / "cleo")
    if not is_copy:
        other.classes.add("Bird")
    _, tern = other.classes.add("Tern", [1])
    other.labels.set([3], tern, who="ben")
    merge(ada, other.path)
    here = ada.classes.graph.find("Tern")
    ada.classes.rename(here, "Sea swallow")
    ada.classes.move([(here, 1)], None)
    other.labels.set([4], tern, who="ben")
    done = merge(ada, other.path)
    assert (done.labelled, done.classes_added, labels_of(ada)[4]) == (1, 0, ("Sea swallow", "ben"))
    ada.classes.remove([here])
    other.labels.set([5], tern, who="ben")
    done = merge(ada, other.path)
    assert (done.labelled, done.classes_added, [each.labels for each in done.plan.waiting]) == (
        0,
        0,
        [3],
    )


def test_what_both_had_is_no_disagreement(copies: Copies) -> None:
    """Ben corrected a common label: a proposal, no independent judgement.

    Ada removed one: it stays removed.
    """
    ada, ben = copies
    _, heron = ben.classes.add("Heron", [1])
    ben.labels.set([1], heron, who="ben")
    ada.labels.remove([2])
    plan = plan_of(ada, ben)
    assert [(each.image_id, each.proposed) for each in plan.conflicts] == [(1, Verdict.THEIRS)]
    assert (plan.labels, plan.kept, plan.agreement.exact.images) == ((), 1, 0)


def test_our_later_decision_stands(copies: Copies) -> None:
    """Ada corrected common labels and one of Ben's: neither is a conflict again."""
    ada, ben = copies
    ada.labels.set([1], 1, who="ada")
    ben.labels.set([3], 2, who="ben")
    merge(ada, ben.path)
    ada.labels.set([3], 1, who="ada")
    plan = plan_of(ada, ben)
    assert (plan.conflicts, plan.kept, plan.same) == ((), 2, 1)


def test_agreements_conflicts_and_refinements(copies: Copies) -> None:
    """Independent labels: equal, different, coarse against fine."""
    ada, ben = copies
    _, fox = ada.classes.add("Fox")
    for image_id, ours, theirs in ((3, 2, 2), (4, fox, 2), (5, 1, 2), (6, 2, 1)):
        ada.labels.set([image_id], ours, who="ada")
        ben.labels.set([image_id], theirs, who="ben")
    plan = plan_of(ada, ben)
    assert (plan.agreed, plan.agreement.exact.images, plan.agreement.exact.agreed) == (1, 4, 1)
    found = [
        (each.image_id, each.kind, each.ours.path, each.theirs.path, each.proposed)
        for each in plan.conflicts
    ]
    assert found == [
        (4, ConflictKind.CLASS, "Fox", "Bird/Gull", None),
        (5, ConflictKind.REFINEMENT, "Bird", "Bird/Gull", Verdict.THEIRS),
        (6, ConflictKind.REFINEMENT, "Bird/Gull", "Bird", Verdict.OURS),
    ]
    assert [(each.images, each.agreed) for each in plan.agreement.levels] == [(4, 3), (1, 1)]


def disputed(copies: Copies, *images: int) -> Copies:
    ada, ben = copies
    _, heron = ben.classes.add("Heron", [1])
    for image_id in images:
        ada.labels.set([image_id], 2, who="ada")
        ben.labels.set([image_id], heron, who="ben")
    return copies


def test_settled_conflicts_are_asked_once_and_others_stay_open(copies: Copies) -> None:
    """Each decision is one undo step.

    Agreement is unchanged if both judged independently.
    """
    ada, ben = disputed(copies, 3, 4, 5, 6, 7)
    done = merge(ada, ben.path)
    conflicts = {each.image_id: each for each in done.conflicts}
    settle(ada, conflicts[3], Verdict.OURS)
    settle(ada, conflicts[4], Verdict.THEIRS)
    settle(ada, conflicts[5], Verdict.OTHER, 1)
    settle(ada, conflicts[6], Verdict.OTHER, UNKNOWN)
    paths = [labels_of(ada)[each][0] for each in (3, 4, 5, 6, 7)]
    assert paths == ["Bird/Gull", "Bird/Heron", "Bird", "", "Bird/Gull"]
    assert ada.labels.confirmed() == {3: 2}
    again = merge(ada, ben.path)
    assert [each.image_id for each in again.conflicts] == [7]
    assert (again.change.is_empty, again.plan.settled) == (True, 4)
    assert again.plan.agreement.exact == done.plan.agreement.exact
    ada.history.undo()
    assert [each.image_id for each in plan_of(ada, ben).conflicts] == [6, 7]


def test_a_new_decision_of_the_other_opens_a_settled_conflict_again(copies: Copies) -> None:
    """A new label of the other person reopens a settled conflict."""
    ada, ben = disputed(copies, 3)
    (conflict,) = merge(ada, ben.path).conflicts
    settle(ada, conflict, Verdict.OURS)
    assert plan_of(ada, ben).conflicts == ()
    ben.labels.set([3], 1, who="ben")
    assert [each.theirs.path for each in plan_of(ada, ben).conflicts] == ["Bird"]


@pytest.mark.parametrize(
    ("prefer", "third", "fourth"),
    [
        (Preference.OURS, ("Bird/Gull", "ada"), ("Bird/Gull", "ada")),
        (Preference.THEIRS, ("Bird/Heron", "ben"), ("Bird/Heron", "ben")),
        (Preference.NEWER, ("Bird/Heron", "ben"), ("Bird/Gull", "ada")),
    ],
)
def test_all_conflicts_at_once(
    copies: Copies, prefer: Preference, third: tuple[str, str], fourth: tuple[str, str]
) -> None:
    """By preference, in the step of the merge, with none left."""
    ada, ben = disputed(copies, 3, 4)
    ada.labels.remove([4])
    ada.labels.set([4], 2, who="ada")  # later than Ben
    before = dump(ada)
    done = merge(ada, ben.path, prefer=prefer)
    assert (done.settled, done.conflicts) == (2, ())
    assert (labels_of(ada)[3], labels_of(ada)[4]) == (third, fourth)
    again = merge(ada, ben.path, prefer=prefer)
    assert (again.change.is_empty, again.plan.agreement.exact.images) == (True, 2)
    ada.history.undo()
    assert dump(ada) == before


def test_notes_come_in_where_ours_are_missing(copies: Copies) -> None:
    """Stars and comments separately; a note of ours keeps its author.

    Differing comments are conflicts.
    """
    ada, ben = copies
    ada.notes.set_stars([3], 2, who="ada")
    ada.notes.set_comment([4], "A juvenile?", who="ada")
    ben.notes.set_stars([3, 5], 5, who="ben")
    ben.notes.set_comment([3], "Nice light", who="ben")
    ben.notes.set_comment([4], "An adult", who="ben")
    ben.notes.set_flagged([6], True, who="ben")
    before = dump(ada)
    plan = merge(ada, ben.path).plan
    notes = {
        key: (each.stars, each.is_flagged, each.comment, each.who)
        for key, each in ada.notes.by_image().items()
    }
    assert notes == {
        3: (2, False, "Nice light", "ada"),
        4: (0, False, "A juvenile?", "ada"),
        5: (5, False, "", "ben"),
        6: (0, True, "", "ben"),
    }
    assert (plan.stars_kept, [each.image_id for each in plan.comments]) == (1, [4])
    assert merge(ada, ben.path).change.is_empty
    settle_comment(ada, plan.comments[0], Verdict.OTHER)
    note = ada.notes.of(4)
    assert note is not None
    assert note.comment == "A juvenile?\nAn adult"
    assert plan_of(ada, ben).comments == ()
    ada.history.undo()
    ada.history.undo()
    assert dump(ada) == before


def test_a_note_that_was_taken_away_here_stays_away(copies: Copies) -> None:
    """Ada removed a flag that Ben's copy still has."""
    ada, _ben = copies
    ada.notes.set_flagged([3], True, who="ada")
    ben = copied(ada, ada.path.parent / "later")
    ada.notes.set_flagged([3], False, who="ada")
    assert plan_of(ada, ben).notes == ()


def test_confirmed_labels_come_in_where_the_label_is_the_same(copies: Copies) -> None:
    """With the other person's name; not where labels differ."""
    ada, ben = disputed(copies, 3)
    ben.labels.set([4], 2, who="ben")
    ben.labels.confirm([1, 3, 4], who="ben")
    merge(ada, ben.path)
    assert ada.labels.confirmed() == {1: 2, 4: 2}
    assert {each.who for each in ada.labels.confirmations().values()} == {"ben"}
    assert merge(ada, ben.path).change.is_empty


def test_images_are_matched_by_content_wherever_they_lie(copies: Copies, tmp_path: Path) -> None:
    """Another project with the same photos and class names."""
    ada, _ben = copies
    other = stranger(tmp_path / "cleo")
    _, bird = other.classes.add("Bird")
    _, tern = other.classes.add("Tern", [bird])
    other.labels.set([3, 4], tern, who="cleo")
    other.labels.set([1], bird, who="cleo")
    done = merge(ada, other.path)
    assert not done.plan.is_copy
    assert (done.labelled, done.classes_added) == (2, 1)
    assert labels_of(ada)[3] == ("Bird/Tern", "cleo")
    assert [each.kind for each in done.conflicts] == [ConflictKind.REFINEMENT]


def test_copies_of_one_photo_are_matched_once(tmp_path: Path) -> None:
    """Two files with one content here: the label counts for both, the agreement once."""
    ada, _ben = two_copies(tmp_path)
    read(ada, [1, 2, 3, 3, *range(5, 13)])
    other = stranger(tmp_path / "cleo")
    _, bird = other.classes.add("Bird")
    other.labels.set([3], bird, who="cleo")
    ada.labels.set([3], 1, who="ada")
    done = merge(ada, other.path)
    assert labels_of(ada)[4] == ("Bird", "cleo")
    assert done.plan.agreement.exact.images == 1


def test_images_never_read_are_matched_by_history_and_path(tmp_path: Path) -> None:
    """Without content hash: by common history, else by path and size."""
    ada, ben = two_copies(tmp_path)
    other = stranger(tmp_path / "cleo")
    other.images.add(found_files(tmp_path / "cleo" / "photos", 4))
    other.classes.add("Bird")
    for project in (ada, ben, other):
        connection_of(project).write("DELETE FROM image_fact")
    assert plan_of(ada, ben).matched == {
        MatchedBy.CONTENT: 0,
        MatchedBy.HISTORY: 12,
        MatchedBy.PATH: 0,
    }
    assert plan_of(ada, other).matched == {
        MatchedBy.CONTENT: 0,
        MatchedBy.HISTORY: 0,
        MatchedBy.PATH: 4,
    }


def test_another_photo_of_the_same_path_is_listed(tmp_path: Path) -> None:
    """Size or content differ, so its label is not merged."""
    ada, _ben = two_copies(tmp_path)
    other = stranger(tmp_path / "cleo", 0)
    _, bird = other.classes.add("Bird")
    files = found_files(tmp_path / "cleo" / "photos", 3)
    change = other.images.add([replace(files[0], size_bytes=7), *files[1:]])
    other.images.record_scan([(change.images_added[1], content(99), None)])
    other.labels.set(change.images_added, bird, who="cleo")
    plan = plan_of(ada, other)
    assert plan.other_content == (
        "photos/season 0/IMG_000000.jpg",
        "photos/season 0/IMG_000001.jpg",
    )
    assert [each.image_id for each in plan.labels] == [3]


def test_missing_images_are_added_when_asked(tmp_path: Path) -> None:
    """If their files exist and are permitted; with their labels."""
    ada, ben = two_copies(tmp_path)
    found = [
        draw(tmp_path / "ben" / "photos" / name, place)
        for place, name in enumerate(("new.png", "gone.png"))
    ]
    ben.images.add(found)
    ben.labels.set([13, 14], 2, who="ben")
    found[1].path.unlink()
    assert len(merge(ada, ben.path).plan.missing) == 2
    done = merge(ada, ben.path, adds_images=True)
    assert (done.images_added, done.labelled) == (1, 1)
    assert [(each.path.name, str(each.reason)) for each in done.refused] == [
        ("gone.png", "it is not there")
    ]
    assert labels_of(ada)[13] == ("Bird/Gull", "ben")
    assert merge(ada, ben.path, adds_images=True).change.is_empty


def test_a_key_of_the_other_comes_in_where_it_is_free(tmp_path: Path) -> None:
    """A conflicting key stays with our class."""
    ours, theirs = two_copies(tmp_path)
    first, second = list(ours.classes.graph.classes())[:2]
    ours.classes.set_key(first, 1)
    theirs.classes.set_key(second, 1)
    _, new = theirs.classes.add("Kestrel")
    theirs.classes.set_key(new, 2)
    theirs.policies.set(new, ClassPolicy(is_broadest=True))
    merge(ours, theirs.path)
    graph = ours.classes.graph
    kestrel = graph.find("Kestrel")
    assert (graph.class_of_key(1), graph.class_of_key(2)) == (first, kestrel)
    assert ours.policies.by_class()[kestrel] == ClassPolicy(is_broadest=True)
