"""Audits and excluded classes of another copy are merged; ours stay."""

from pathlib import Path

from engine.collection.audit_figures import audit_figures
from engine.graph.codes import NO_CLASS
from engine.merging.merge import merge
from engine.project import AuditItem, Project
from tests.support.copies import stranger, two_copies
from tests.support.projects import dump


def draw(project: Project, size: int, *, class_id: int = 2) -> None:
    """An audit of images 3 to 8, some of them drawn."""
    items = [
        AuditItem(image_id, place, class_id, 0.9, 1, 0.95, stratum=0, stratum_size=10)
        for place, image_id in enumerate(range(3, 9))
    ]
    project.audits.add(items, size, population=10, who="ben")


def test_an_audit_comes_in_with_its_answers_and_goes_with_one_undo(tmp_path: Path) -> None:
    ada, ben = two_copies(tmp_path)
    before = dump(ada)
    draw(ben, 4)
    ben.labels.set([3, 4, 5], 2, who="ben")
    ben.labels.set([6], None, who="ben")
    done = merge(ada, ben.path)
    (figures,) = audit_figures(ada)
    assert (figures.answered, figures.accuracy.right, figures.accuracy.count) == (4, 3, 4)
    assert ada.audits.all()[0].who == "ben"
    assert (done.change.audits, ada.check()) == ((1,), [])
    assert merge(ada, ben.path).change.is_empty
    ada.history.undo()
    assert dump(ada) == before


def test_an_audit_that_both_have_grows(tmp_path: Path) -> None:
    ada, ben = two_copies(tmp_path)
    draw(ben, 2)
    merge(ada, ben.path)
    ben.audits.grow(1, 5)
    merge(ada, ben.path)
    (audit,) = ada.audits.all()
    assert (audit.size, len(audit.items)) == (5, 6)


def test_ours_stays_and_gets_the_answers_of_the_other(tmp_path: Path) -> None:
    """Two audits of different times are kept; a label of the other copy counts for both."""
    ada, ben = two_copies(tmp_path)
    draw(ada, 3)
    draw(ben, 3)
    ben.labels.set([3], 2, who="ben")
    merge(ada, ben.path)
    assert [each.answered for each in audit_figures(ada)] == [1, 1]


def test_claimed_classes_are_those_of_ours(tmp_path: Path) -> None:
    """Ids are mapped to the same classes here.

    A class that is missing here does not count.
    """
    ada, _ben = two_copies(tmp_path)
    cleo = stranger(tmp_path / "cleo")
    cleo.classes.add("Rock")
    _, bird = cleo.classes.add("Bird")
    _, gull = cleo.classes.add("Gull", [bird])
    draw(cleo, 3, class_id=gull)
    merge(ada, cleo.path)
    here = ada.classes.graph
    assert {item.class_id for item in ada.audits.all()[0].items} == {here.find("Gull")}
    draw(cleo, 3, class_id=99)
    merge(ada, cleo.path)
    assert {item.class_id for item in ada.audits.all()[-1].items} == {NO_CLASS}


def test_excluded_classes_come_in_with_name_and_go_with_one_undo(tmp_path: Path) -> None:
    """In one undoable step, except for images labelled here as that class."""
    ada, ben = two_copies(tmp_path)
    ada.labels.set([4], 2)
    ada.exclusions.add([5], 2, who="ada")
    before = dump(ada)
    ben.exclusions.add([3, 4, 5], 2, who="ben")
    done = merge(ada, ben.path)
    assert done.change.excluded == (3,)
    assert [(each.image_id, each.who) for each in ada.exclusions.all()] == [(3, "ben"), (5, "ada")]
    assert (merge(ada, ben.path).change.is_empty, ada.check()) == (True, [])
    ada.history.undo()
    assert dump(ada) == before
