"""Copies with equal class ids and source ids: labels keep their class."""

from itertools import permutations
from pathlib import Path

import pytest

from engine.graph.category_graph import CategoryGraph
from engine.merging.class_plan import Divergence, plan_classes
from engine.merging.merge import Merge, merge
from engine.project import ClassId, Project
from tests.support.copies import content, copied, labels_of, read, stranger, two_copies
from tests.support.eighth_version import save_as_eighth_version
from tests.support.projects import bird_project, found_files

BIRD, GULL = 1, 2


def listed(done: Merge) -> set[tuple[Divergence, str, str]]:
    return {(each.kind, each.theirs, each.ours) for each in done.plan.classes.differences}


def sources(project: Project) -> dict[str, list[str]]:
    """Paths of the classes of each source id."""
    found: dict[str, list[str]] = {}
    for class_id, attributes in project.classes.graph.all_attributes():
        if attributes.source_id:
            found.setdefault(attributes.source_id, []).append(
                project.classes.graph.path_text(class_id)
            )
    return found


def three_copies(folder: Path) -> tuple[Project, Project, Project]:
    """Ada's project, and copies in which Ben and Cleo label a photo each with a new class."""
    ada, gull, ids = bird_project(folder, 12)
    _, tern = ada.classes.add("Tern", [BIRD])
    read(ada)
    ben, cleo = copied(ada, folder / "ben"), copied(ada, folder / "cleo")
    for project, parent, image, who in ((ben, gull, ids[2], "ben"), (cleo, tern, ids[3], "cleo")):
        _, juvenile = project.classes.add("juvenile", [parent])
        project.labels.set([image], juvenile, who=who)
    assert ben.classes.graph.find("juvenile") == cleo.classes.graph.find("juvenile")
    return ada, ben, cleo


@pytest.mark.slow
@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("order", list(permutations(("ben", "cleo"))))
def test_two_classes_of_one_number_and_name_are_two(
    tmp_path: Path, order: tuple[str, str], is_older: bool
) -> None:
    """Merged in any order, also copies from before identities existed, and merged again."""
    ada, ben, cleo = three_copies(tmp_path)
    for each in (ben, cleo):
        each.close()
        if is_older:
            save_as_eighth_version(each.path)
    paths = {"ben": ben.path, "cleo": cleo.path}
    for name in (*order, *order):
        done = merge(ada, paths[name])
        assert done.conflicts == ()
    assert (labels_of(ada)[3], labels_of(ada)[4]) == (
        ("Bird/Gull/juvenile", "ben"),
        ("Bird/Tern/juvenile", "cleo"),
    )
    assert len(ada.classes.graph) == 5


def test_a_merged_copy_goes_on_to_the_third(tmp_path: Path) -> None:
    """Ada has Ben's class; Cleo gets both from Ada, and Ben gets Cleo's from her."""
    ada, ben, cleo = three_copies(tmp_path)
    merge(ada, ben.path)
    merge(cleo, ada.path)
    merge(ben, cleo.path)
    assert labels_of(ben)[3] == labels_of(cleo)[3] == ("Bird/Gull/juvenile", "ben")
    assert labels_of(ben)[4] == labels_of(cleo)[4] == ("Bird/Tern/juvenile", "cleo")


def test_renamed_and_moved_it_is_known_by_its_identity(tmp_path: Path) -> None:
    """Ben renames and moves the class after the merge; another class then has its old name."""
    ada, ben, _cleo = three_copies(tmp_path)
    merge(ada, ben.path)
    juvenile = ben.classes.graph.find("juvenile")
    ben.classes.rename(juvenile, "first winter")
    ben.classes.move([(juvenile, GULL)], BIRD)
    _, second = ben.classes.add("juvenile", [GULL])
    ben.labels.set([5], juvenile, who="ben")
    ben.labels.set([6], second, who="ben")
    done = merge(ada, ben.path)
    assert labels_of(ada)[5] == ("Bird/Gull/juvenile", "ben")
    assert 6 not in labels_of(ada)
    assert (Divergence.NAME_TAKEN, "Bird/Gull/juvenile", "") in listed(done)
    assert [(each.theirs, each.labels) for each in done.plan.waiting] == [("Bird/Gull/juvenile", 1)]


def test_what_was_removed_and_made_again_is_another_class(tmp_path: Path) -> None:
    """Ben removed Gull and made another Gull: its labels are listed."""
    ada, ben = two_copies(tmp_path)
    ben.classes.remove([GULL])
    _, again = ben.classes.add("Gull", [BIRD])
    ben.labels.set([5], again, who="ben")
    done = merge(ada, ben.path)
    assert 5 not in labels_of(ada)
    assert [(each.theirs, each.labels) for each in done.plan.waiting] == [("Bird/Gull", 1)]


def test_both_made_the_same_class_in_the_same_place(tmp_path: Path) -> None:
    """It is one class, also after Ada renames hers."""
    ada, ben = two_copies(tmp_path)
    for project in (ada, ben):
        project.classes.add("Heron", [BIRD])
    heron = ben.classes.graph.find("Heron")
    ben.labels.set([5], heron, who="ben")
    assert merge(ada, ben.path).classes_added == 0
    ada.classes.rename(ada.classes.graph.find("Heron"), "Grey heron")
    ben.labels.set([6], heron, who="ben")
    assert merge(ada, ben.path).classes_added == 0
    assert (labels_of(ada)[5], labels_of(ada)[6]) == (
        ("Bird/Grey heron", "ben"),
        ("Bird/Grey heron", "ben"),
    )


def test_a_juvenile_gull_is_no_juvenile_tern(tmp_path: Path) -> None:
    """Also for unrelated projects: a name only one side has does not prevent a match by path."""
    ada, gull, _ids = bird_project(tmp_path, 12)
    ada.classes.add("Tern", [BIRD])
    ada.classes.add("juvenile", [gull])
    read(ada)
    other = stranger(tmp_path / "cleo")
    bird = other.classes.add("Bird")[1]
    tern = other.classes.add("Tern", [bird])[1]
    other.classes.add("Gull", [bird])
    juvenile = other.classes.add("juvenile", [tern])[1]
    other.labels.set([3], juvenile, who="cleo")
    merge(ada, other.path)
    assert labels_of(ada)[3] == ("Bird/Tern/juvenile", "cleo")


def test_a_path_and_a_source_id_of_two_classes_are_listed(tmp_path: Path) -> None:
    """Listed as ambiguous."""
    ada, gull, _ids = bird_project(tmp_path, 12)
    tern = ada.classes.add("Tern", [BIRD])[1]
    ada.classes.set_attributes([tern], source_id="n02041246")
    ada.classes.set_attributes([gull], source_id="n01503061")
    read(ada)
    other = stranger(tmp_path / "cleo")
    bird = other.classes.add("Bird")[1]
    theirs = other.classes.add("Gull", [bird])[1]
    other.classes.set_attributes([theirs], source_id="n02041246")
    other.labels.set([3], theirs, who="cleo")
    done = merge(ada, other.path)
    assert (Divergence.AMBIGUOUS, "Bird/Gull", "") in listed(done)
    assert [each.labels for each in done.plan.waiting] == [1]
    assert labels_of(ada) == {}


def test_one_source_id_stays_on_one_class(tmp_path: Path) -> None:
    """Ben assigned it to other classes than Ada: neither is imported, and both are listed."""
    ada, ben = two_copies(tmp_path)
    ada.classes.set_attributes([BIRD], source_id="gbif:1", note="ours")
    heron = ben.classes.add("Heron", [BIRD])[1]
    ben.classes.set_attributes([GULL], source_id="gbif:1", note="theirs")
    ben.classes.set_attributes([heron], source_id="gbif:1")
    done = merge(ada, ben.path)
    assert sources(ada) == {"gbif:1": ["Bird"]}
    assert ada.classes.graph.attributes(GULL).note == "theirs"
    assert listed(done) == {
        (Divergence.SOURCE_ID_TAKEN, "Bird/Gull", "Bird/Gull"),
        (Divergence.SOURCE_ID_TAKEN, "Bird/Heron", "Bird/Heron"),
    }


def test_two_new_classes_of_one_source_id(tmp_path: Path) -> None:
    """The first one keeps it."""
    ada, ben = two_copies(tmp_path)
    both: list[ClassId] = [ben.classes.add(name, [BIRD])[1] for name in ("Heron", "Egret")]
    ben.classes.set_attributes(both, source_id="gbif:7")
    done = merge(ada, ben.path)
    assert sources(ada) == {"gbif:7": ["Bird/Heron"]}
    assert listed(done) == {(Divergence.SOURCE_ID_TAKEN, "Bird/Egret", "Bird/Egret")}


@pytest.mark.parametrize("ours_is_labelled", [False, True])
def test_the_label_of_a_second_copy_of_a_photo_is_listed(
    tmp_path: Path, ours_is_labelled: bool
) -> None:
    """Cleo has a photo three times with two labels: nothing is dropped silently."""
    ada, gull, ids = bird_project(tmp_path, 1)
    read(ada)
    other = stranger(tmp_path / "cleo", 0)
    bird = other.classes.add("Bird")[1]
    theirs = other.classes.add("Gull", [bird])[1]
    files = found_files(tmp_path / "cleo", 3)
    copies = other.images.add(files).images_added
    other.images.record_scan([(each, content(1), None) for each in copies])
    other.labels.set(copies[:1], bird, who="cleo")
    other.labels.set(copies[1:2], theirs, who="cleo")
    other.labels.set(copies[2:], None, who="cleo")
    if ours_is_labelled:
        ada.labels.set(ids, gull, who="ada")
    done = merge(ada, other.path)
    found = {(each.ours.path, each.theirs.path) for each in done.conflicts}
    assert found == (
        {("Bird/Gull", "Bird"), ("Bird/Gull", "")}
        if ours_is_labelled
        else {("Bird", "Bird/Gull"), ("Bird", "")}
    )
    assert done.plan.agreement.exact.images == int(ours_is_labelled)


def test_an_identity_that_two_classes_have_matches_nothing() -> None:
    """A duplicated identity is ignored: classes match by path, and none gets it twice."""
    ours, theirs = CategoryGraph(), CategoryGraph()
    for graph, names in ((ours, ("Gull", "Heron")), (theirs, ("Heron", "Owl", "Wren"))):
        for name in names:
            graph.add_class(name, identity="a" * 32 if name != "Heron" or graph is theirs else "")
    found = plan_classes(ours, theirs, None)
    assert {theirs.name(their): found.after.name(our) for their, our in found.pairs.items()} == {
        each: each for each in ("Heron", "Owl", "Wren")
    }
    assert found.after.by_identity()["a" * 32] == ours.find("Gull")
