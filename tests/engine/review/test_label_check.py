"""Label errors of an open project with generated embeddings."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.graph.codes import UNKNOWN
from engine.review.label_check import (
    FEWEST_LABELS,
    LabelCheck,
    SuspectLabel,
    SuspectReason,
    check_labels,
    label_check_input,
)
from tests.support.drawn_embeddings import DrawnEmbeddings, drawn_embeddings, drawn_kinds
from tests.support.projects import named

KINDS = 4
EACH = 10


@pytest.fixture
def drawn(tmp_path: Path) -> DrawnEmbeddings:
    """Four classes of two branches, ten images each, all labelled correctly."""
    made = drawn_kinds(tmp_path, [["A"], ["A"], ["B"], ["B"]], images=KINDS * EACH, width=32)
    with made.project.history.one_step(named("Label all")) as step:
        for image_id in range(1, KINDS * EACH + 1):
            made.project.labels.set([image_id], leaf(made, image_id % KINDS))
    made.act(step.change)
    return made


def leaf(drawn: DrawnEmbeddings, kind: int) -> int:
    return drawn.project.classes.graph.find(f"leaf {kind}")


def relabel(drawn: DrawnEmbeddings, image_id: int, class_id: int | None) -> None:
    drawn.act(drawn.project.labels.set([image_id], class_id))


def checked(drawn: DrawnEmbeddings) -> LabelCheck:
    return check_labels(label_check_input(drawn.live))


def only(found: LabelCheck) -> SuspectLabel:
    (suspect,) = found.suspects
    return suspect


@pytest.mark.slow
def test_a_wrong_label_is_found_with_its_evidence(drawn: DrawnEmbeddings) -> None:
    """The likely class, labels of its nearest neighbours, and images of both classes."""
    relabel(drawn, 8, leaf(drawn, 1))
    found = checked(drawn)
    suspect = only(found)
    assert (suspect.image_id, suspect.label, suspect.proposed) == (
        8,
        leaf(drawn, 1),
        leaf(drawn, 0),
    )
    assert suspect.reason is SuspectReason.NEIGHBOURS
    assert suspect.votes[0] == (leaf(drawn, 0), EACH - 1)
    assert suspect.probability > 0.9
    assert suspect.score > 0.5
    assert suspect.most_likely[0] == leaf(drawn, 0)
    assert {image_id % KINDS for image_id in suspect.others} == {0}
    assert {image_id % KINDS for image_id in suspect.same} == {1}
    assert 8 not in suspect.others
    assert (found.labels, found.classes, found.probably_wrong) == (KINDS * EACH, KINDS, 1)


@pytest.mark.slow
def test_a_confirmed_label_is_not_asked_about_while_it_stays_the_same(
    drawn: DrawnEmbeddings,
) -> None:
    relabel(drawn, 8, leaf(drawn, 1))
    drawn.act(drawn.project.labels.confirm([8]))
    assert checked(drawn).suspects == ()
    relabel(drawn, 8, leaf(drawn, 2))
    assert only(checked(drawn)).label == leaf(drawn, 2)
    drawn.act(drawn.project.history.undo())
    assert checked(drawn).suspects == ()
    drawn.act(drawn.project.history.undo())
    assert only(checked(drawn)).label == leaf(drawn, 1)


@pytest.mark.slow
def test_nearly_the_same_image_with_another_label_is_the_strongest_reason(
    drawn: DrawnEmbeddings,
) -> None:
    vector = drawn.near(0, seed=8)
    drawn.embed({12: (vector + 0.001).astype(np.float32)})
    relabel(drawn, 12, leaf(drawn, 3))
    suspect = only(checked(drawn))
    assert (suspect.image_id, suspect.reason, suspect.twin_id) == (12, SuspectReason.TWIN, 8)
    assert suspect.others[0] == 8


@pytest.mark.slow
def test_a_coarse_label_is_no_contradiction(drawn: DrawnEmbeddings) -> None:
    """A true ancestor is right; one of the other branch is not."""
    above = drawn.project.classes.graph.find("A")
    relabel(drawn, 8, above)
    relabel(drawn, 12, above)
    assert checked(drawn).suspects == ()
    for image_id in (3, 7, 11, 12):
        relabel(drawn, image_id, drawn.project.classes.graph.find("B"))
    assert only(checked(drawn)).proposed == leaf(drawn, 0)


@pytest.mark.slow
def test_none_of_the_classes_in_the_middle_of_one(drawn: DrawnEmbeddings) -> None:
    """It is doubted only if neighbours are unanimous."""
    centre = np.mean([drawn.near(0, seed=image_id) for image_id in range(4, 36, 4)], axis=0)
    drawn.embed({8: (centre / np.linalg.norm(centre)).astype(np.float32)})
    relabel(drawn, 8, None)
    suspect = only(checked(drawn))
    assert (suspect.label, suspect.proposed) == (UNKNOWN, leaf(drawn, 0))


@pytest.mark.slow
def test_labels_on_removed_classes_and_removed_images_are_not_judged(
    drawn: DrawnEmbeddings,
) -> None:
    relabel(drawn, 8, leaf(drawn, 1))
    drawn.act(drawn.project.images.remove([8]))
    drawn.act(drawn.project.classes.remove([leaf(drawn, 3)]))
    found = checked(drawn)
    assert found.suspects == ()
    assert found.labels == KINDS * EACH - 1 - (found.classes < KINDS) * EACH


@pytest.mark.slow
def test_a_snapshot_whose_labels_are_of_a_class_that_is_gone(drawn: DrawnEmbeddings) -> None:
    """The graph of a snapshot may be newer than its labels."""
    given = label_check_input(drawn.live)
    given.graph.remove(leaf(drawn, 3))
    assert check_labels(given).labels == (KINDS - 1) * EACH


@pytest.mark.slow
@pytest.mark.parametrize("labels", [0, 1, FEWEST_LABELS - 1])
def test_too_few_labels_say_how_many_are_missing(drawn: DrawnEmbeddings, labels: int) -> None:
    drawn.act(drawn.project.labels.remove(range(labels + 1, KINDS * EACH + 1)))
    found = checked(drawn)
    assert (found.labels_missing, found.has_enough, found.suspects) == (
        FEWEST_LABELS - labels,
        False,
        (),
    )


@pytest.mark.slow
def test_one_class_only(drawn: DrawnEmbeddings) -> None:
    drawn.act(drawn.project.labels.set(range(1, KINDS * EACH + 1), leaf(drawn, 0)))
    found = checked(drawn)
    assert (found.labels_missing, found.has_enough, found.suspects) == (0, False, ())


def test_without_embeddings(tmp_path: Path) -> None:
    """Labelled images without embedding do not count."""
    made = drawn_embeddings(tmp_path, width=8)
    ids = made.add_images(20)
    _, class_id = made.project.classes.add("A")
    made.act(made.project.labels.set(ids, class_id))
    assert check_labels(label_check_input(made.live)) == LabelCheck()


@pytest.mark.slow
def test_it_can_be_stopped(drawn: DrawnEmbeddings) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        check_labels(label_check_input(drawn.live), cancel)


@pytest.mark.slow
def test_labels_that_cannot_be_judged_are_not_called_right(drawn: DrawnEmbeddings) -> None:
    """Two images of a class are too few to judge; a confirmation counts."""
    assert (checked(drawn).judged, checked(drawn).too_few) == (KINDS * EACH, ())
    few = [image_id for image_id in range(1, KINDS * EACH + 1) if image_id % KINDS == 3]
    drawn.act(drawn.project.labels.remove(few[2:]))
    found = checked(drawn)
    assert (found.judged, found.labels, found.too_few) == (30, 32, (leaf(drawn, 3),))
    drawn.act(drawn.project.labels.confirm(few[:2]))
    assert (checked(drawn).judged, checked(drawn).too_few) == (32, ())
