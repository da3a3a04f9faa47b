"""Labels that the others contradict: found, proposed and rated, on vectors that a test draws."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.label_errors.find import LIKELY, LabelErrors, find_label_errors
from engine.everyday.label_errors.labelled import JudgedLabels, LeaveOneOut, centred, neighbours_of
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS, UNKNOWN
from tests.support.graphs import graph_of

ANIMAL, DOG, FOX, PLANT, FERN, MOSS = range(1, 7)
LEAVES = (DOG, FOX, FERN, MOSS)
WIDTH = 64


@pytest.fixture
def graph() -> CategoryGraph:
    """Two branches of two leaves each."""
    return graph_of(
        {
            "Animal": [],
            "Dog": ["Animal"],
            "Fox": ["Animal"],
            "Plant": [],
            "Fern": ["Plant"],
            "Moss": ["Plant"],
        }
    )


def drawn(classes: list[int], *, spread: float = 0.8, seed: int = 0) -> NDArray[np.float32]:
    """A vector of length 1 around the centre of each class."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(10, WIDTH))
    vectors = centres[classes] + spread * generator.normal(size=(len(classes), WIDTH))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def labelled(
    truth: list[int], given: dict[int, int] | None = None, **changes: object
) -> JudgedLabels:
    """Images of these classes, labelled rightly but for those at some places."""
    labels = np.array(truth, dtype=np.int64)
    for place, label in (given or {}).items():
        labels[place] = label
    vectors = np.asarray(changes.get("vectors", drawn(truth)))
    found = JudgedLabels(np.arange(100, 100 + len(truth)), labels, vectors, centred(vectors))
    return JudgedLabels(**{**vars_of(found), **changes})  # type: ignore[arg-type]


def vars_of(images: JudgedLabels) -> dict[str, object]:
    return {
        name: getattr(images, name)
        for name in ("image_ids", "labels", "vectors", "plain", "is_confirmed")
    }


def twelve_each() -> list[int]:
    return [leaf for leaf in LEAVES for _ in range(12)]


def found_in(graph: CategoryGraph, images: JudgedLabels) -> LabelErrors:
    return find_label_errors(graph, images)


def test_right_labels_are_not_accused(graph: CategoryGraph) -> None:
    errors = found_in(graph, labelled(twelve_each()))
    assert len(errors.suspects) == 0
    assert errors.probability.max() < 0.1


def test_wrong_labels_come_first_with_the_right_class(graph: CategoryGraph) -> None:
    """Each of three, also one within its branch; the classes proposed are the true ones."""
    truth = twelve_each()
    errors = found_in(graph, labelled(truth, {0: FOX, 15: MOSS, 30: DOG}))
    assert sorted(errors.suspects.tolist()) == [0, 15, 30]
    assert [errors.proposed[place] for place in (0, 15, 30)] == [DOG, FOX, FERN]
    assert errors.probability[errors.suspects].min() > 0.7  # forty-eight labels leave some doubt
    assert errors.most_likely[0, 0] == DOG
    assert errors.score[0] > LIKELY


@pytest.mark.parametrize("seed", [2, 5, 24, 28])
def test_few_labels_leave_doubt(graph: CategoryGraph, seed: int) -> None:
    """Four right labels of each of four classes that look alike.

    The best fit to them alone is sure of an error.
    """
    truth = [leaf for leaf in LEAVES for _ in range(4)]
    errors = found_in(graph, labelled(truth, vectors=drawn(truth, spread=2.0, seed=seed)))
    assert errors.probability.max() < 0.9


def test_a_class_above_or_below_is_no_contradiction(graph: CategoryGraph) -> None:
    """An image labelled Animal among dogs is right, and so are the dogs around it.

    One among ferns is not.
    """
    truth = twelve_each()
    errors = found_in(
        graph, labelled(truth, {0: ANIMAL, 1: ANIMAL, 2: ANIMAL, 3: ANIMAL, 26: ANIMAL})
    )
    assert errors.suspects.tolist() == [26]
    assert errors.proposed[26] == FERN


def test_what_several_classes_below_say_together_counts_for_the_class_above(
    graph: CategoryGraph,
) -> None:
    """Look-alikes of an image between Fern and Moss are of both: it is a plant."""
    images = labelled([*twelve_each(), DOG])
    vectors = images.vectors.copy()
    middle = vectors[24:36].mean(axis=0) + vectors[36:48].mean(axis=0)
    vectors[-1] = middle / np.linalg.norm(middle)
    errors = found_in(graph, labelled([*twelve_each(), DOG], vectors=vectors))
    assert errors.proposed[-1] in (PLANT, FERN, MOSS)
    assert errors.probability[-1] > LIKELY
    labels = images.labels.copy()
    labels[-1] = DOG
    rolled = errors.score[-1]
    assert 0 < rolled <= 1


def test_confirmed_labels_are_never_asked_about(graph: CategoryGraph) -> None:
    is_confirmed = np.zeros(48, dtype=bool)
    is_confirmed[0] = True
    errors = found_in(graph, labelled(twelve_each(), {0: FOX, 15: MOSS}, is_confirmed=is_confirmed))
    assert errors.suspects.tolist() == [15]


def test_classes_with_one_or_two_labels_are_left_alone(graph: CategoryGraph) -> None:
    """They have nobody to vouch for them.

    Only where everything around is typical of one class they are asked about.
    """
    between = drawn([7, 8], seed=5)
    images = labelled([*twelve_each(), 7, 8])
    vectors = np.concatenate([images.vectors[:-2], between])
    lone = graph_of(
        {
            "Animal": [],
            "Dog": ["Animal"],
            "Fox": ["Animal"],
            "Plant": [],
            "Fern": ["Plant"],
            "Moss": ["Plant"],
            "Newt": ["Animal"],
            "Toad": ["Animal"],
        }
    )
    errors = found_in(lone, labelled([*twelve_each(), 7, 8], vectors=vectors))
    assert len(errors.suspects) == 0
    heart = vectors.copy()
    heart[-1] = images.vectors[:12].mean(axis=0) / np.linalg.norm(images.vectors[:12].mean(axis=0))
    errors = found_in(lone, labelled([*twelve_each(), 7, 8], vectors=heart))
    assert errors.suspects.tolist() == [49]
    assert errors.proposed[49] == DOG


def test_none_of_the_classes_is_judged_by_look_alikes_alone(graph: CategoryGraph) -> None:
    """Strangers all over are left alone; one in the middle of the dogs is a dog."""
    strangers = [9, 8, 7, 0]
    images = labelled([*twelve_each(), *strangers])
    labels, vectors = images.labels.copy(), images.vectors.copy()
    labels[-4:] = UNKNOWN
    assert len(found_in(graph, labelled([*twelve_each(), *strangers], labels=labels)).suspects) == 0
    vectors[-1] = images.vectors[:12].mean(axis=0) / np.linalg.norm(
        images.vectors[:12].mean(axis=0)
    )
    errors = found_in(graph, labelled([*twelve_each(), *strangers], labels=labels, vectors=vectors))
    assert errors.suspects.tolist() == [51]
    assert errors.proposed[51] == DOG


@pytest.mark.parametrize("is_first_confirmed", [False, True])
def test_of_two_equal_images_with_two_labels_one_is_wrong(
    graph: CategoryGraph, is_first_confirmed: bool
) -> None:
    """Also where nothing else speaks against either; where one was confirmed it is the other."""
    images = labelled([*twelve_each(), 9, 9])
    vectors, labels = images.vectors.copy(), images.labels.copy()
    vectors[-1] = vectors[-2]
    labels[-2:] = DOG, FOX
    is_confirmed = np.zeros(len(labels), dtype=bool)
    is_confirmed[-2] = is_first_confirmed
    changed = labelled(
        [*twelve_each(), 9, 9], labels=labels, vectors=vectors, is_confirmed=is_confirmed
    )
    errors = found_in(graph, changed)
    suspects = [place for place in errors.suspects.tolist() if place >= 48]
    assert len(suspects) == 1
    assert errors.twin[suspects[0]] == 97 - suspects[0]
    if is_first_confirmed:
        assert suspects == [49]
        assert errors.probability[49] > 0.8


def test_a_confirmed_label_does_not_accuse_all_images_like_it(graph: CategoryGraph) -> None:
    """A person keeps what all its twins contradict.

    These are left alone, and it is not asked about.
    """
    images = labelled(twelve_each())
    vectors, labels = images.vectors.copy(), images.labels.copy()
    vectors[1:6], labels[0] = vectors[0], FOX
    is_confirmed = np.zeros(48, dtype=bool)
    is_confirmed[0] = True
    errors = found_in(
        graph, labelled(twelve_each(), labels=labels, vectors=vectors, is_confirmed=is_confirmed)
    )
    assert len(errors.suspects) == 0


def test_equal_images_with_a_class_and_one_above_it_agree(graph: CategoryGraph) -> None:
    images = labelled(twelve_each())
    vectors, labels = images.vectors.copy(), images.labels.copy()
    vectors[1], labels[1] = vectors[0], ANIMAL
    errors = found_in(graph, labelled(twelve_each(), labels=labels, vectors=vectors))
    assert errors.twin[0] == errors.twin[1] == -1


def test_one_class_one_label_and_none_say_nothing(graph: CategoryGraph) -> None:
    for truth in ([], [DOG], [DOG] * 8):
        errors = found_in(graph, labelled(truth))
        assert len(errors.suspects) == 0
        assert (errors.proposed == NO_CLASS).all()


def test_labels_that_say_nothing_of_the_images_accuse_nobody_surely(graph: CategoryGraph) -> None:
    """All labels are wrong: then there is nothing to judge any of them by."""
    labels = np.array(twelve_each(), dtype=np.int64)[np.random.default_rng(3).permutation(48)]
    errors = found_in(graph, labelled(twelve_each(), labels=labels))
    assert len(errors.suspects) < 10


def test_images_that_are_all_equal_are_judged_without_a_crash(graph: CategoryGraph) -> None:
    vectors = np.zeros((48, WIDTH), dtype=np.float32)
    errors = found_in(graph, labelled(twelve_each(), vectors=vectors))
    assert np.isfinite(errors.probability).all()


def test_the_estimates_are_those_of_fits_without_the_image(graph: CategoryGraph) -> None:
    """Ridge regression and prototypes in closed form equal fits without each image."""
    images = labelled(twelve_each())
    evidence = LeaveOneOut(images)
    rows = np.array([0, 13, 47])
    ridge, prototypes = evidence._ridge(rows), evidence._to_prototypes(rows)  # noqa: SLF001
    for place, row in enumerate(rows.tolist()):
        left = np.setdiff1d(np.arange(48), [row])
        inputs = np.concatenate([images.vectors[left], np.ones((47, 1))], axis=1).astype(np.float64)
        penalty = np.diag([*[0.1 * 48 / WIDTH] * WIDTH, 1e-6 * 48])
        wanted = np.eye(4)[images.columns[left]]
        weights = np.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ wanted)
        alone = np.append(images.vectors[row], 1.0) @ weights
        assert ridge[place] == pytest.approx(alone, abs=1e-3)
        means = np.stack(
            [
                images.vectors[left][images.columns[left] == column].mean(axis=0)
                for column in range(4)
            ]
        )
        assert prototypes[place] == pytest.approx(
            -((images.vectors[row] - means) ** 2).sum(axis=1), abs=1e-4
        )


def test_a_gross_error_is_more_probable_than_a_slip_among_look_alikes(graph: CategoryGraph) -> None:
    """A label is judged more severely where every other class is closer, less where none is."""
    images = labelled(twelve_each(), {0: FOX, 15: MOSS})
    fox = images.plain[13:24].mean(axis=0)
    near, far = images.plain.copy(), images.plain.copy()
    near[0], far[0] = fox, -fox
    probability = []
    for plain, share in ((near, 0.0), (far, 1.0)):
        changed = labelled(twelve_each(), {0: FOX, 15: MOSS}, plain=plain)
        assert LeaveOneOut(changed).closer_classes(np.array([0]), np.array([1])) == share
        probability.append(found_in(graph, changed).probability[0])
    assert 0.5 < probability[0] < probability[1] < 1


def test_neighbours_are_the_most_alike_others() -> None:
    images = labelled(twelve_each())
    near = neighbours_of(images, 5)
    alike = images.vectors @ images.vectors.T
    np.fill_diagonal(alike, -2)
    assert (near.positions == np.argsort(-alike, axis=1, kind="stable")[:, :5]).all()
    assert near.cosines[0] == pytest.approx(np.sort(alike[0])[::-1][:5], abs=1e-5)


def test_it_can_be_stopped(graph: CategoryGraph) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        find_label_errors(graph, labelled(twelve_each()), cancel)
