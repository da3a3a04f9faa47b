"""Tuning propagation on a project's labels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.models import find_model
from engine.collection.training.labelled import graph_arrays, labelled_images
from engine.collection.training.settings import Chosen
from engine.collection.training.train import episodes_for, train
from engine.collection.training.trained import FIGURE_NAMES, read_trained
from engine.errors import Cancelled, InputError, UsageError
from engine.events import CancelToken, Progress
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.project import Project
from engine.training.curve import TrainingPoint
from tests.support.collections import Collection, class_ids

QUICK: Chosen = {
    "iterations": 6,
    "validation-interval": "3",
    "validation_episodes": 4,
    "test_episodes": 4,
}


@pytest.mark.slow
def test_a_project_of_three_shots_a_class_is_enough(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """Curve, progress and files are complete; the export fits; the project is unchanged."""
    points: list[TrainingPoint] = []
    reports: list[Progress] = []
    trained = train(
        project,
        collection.caches,
        "propagation",
        QUICK,
        out=tmp_path / "out",
        on_point=points.append,
        on_progress=reports.append,
    )
    assert read_trained(tmp_path / "out") == replace(trained, history=tuple(points))
    assert [point.iteration for point in points] == [0, 3, 6]
    assert points[0].loss is None
    assert all(
        point.validation_loss is not None and 0 <= (point.accuracy or 0) <= 1 for point in points
    )
    assert (reports[-1].done, reports[-1].total, reports[-1].unit) == (6, 6, "episodes")
    assert reports[-1].note.startswith("loss ")
    assert "accuracy" in reports[-1].note
    assert set(FIGURE_NAMES) <= trained.figures.keys()
    assert (trained.figures["iterations"], trained.figures["held_out_images"]) == (6, 4)
    assert (trained.settings["shots"], trained.settings["queries"]) == (1, 1)
    session = PropagationSession(trained.propagation)
    assert (
        session.embedding_width == find_model().card.embedding_width == trained.card.embedding_width
    )
    assert (len(project.models.versions()), str(project.history.undo_action)) == (
        1,
        "Added 40 images",
    )


@pytest.mark.slow
def test_it_goes_on_from_the_model_in_use(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """Without iterations the result equals the model in use, in scalars and attention weights."""
    trained = train(
        project,
        collection.caches,
        "propagation",
        {**QUICK, "iterations": 0, "validation-interval": 1},
        out=tmp_path / "out",
    )
    bundled = find_model()
    assert trained.card.temperature == pytest.approx(bundled.card.temperature)
    assert trained.card.shrinkage == pytest.approx(bundled.card.shrinkage, abs=1e-3)
    assert trained.figures["before_accuracy"] == trained.figures["after_accuracy"]
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(6, bundled.card.embedding_width)).astype(np.float32)
    edges = np.array([[0, 1, 2], [3, 3, 3]])
    results = [
        PropagationSession(path).run(
            vectors, np.arange(4), np.arange(4), edges, np.full(4, 0.5, np.float32)
        )
        for path in (bundled.propagation, trained.propagation)
    ]
    np.testing.assert_allclose(results[0].weights, results[1].weights, atol=1e-5)


def test_a_stop_leaves_nothing(project: Project, collection: Collection, tmp_path: Path) -> None:
    """Cancelled at the first report, it leaves no folder and no version."""
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        train(
            project,
            collection.caches,
            "propagation",
            {**QUICK, "iterations": 100_000},
            out=tmp_path / "out",
            on_progress=lambda _progress: cancel.cancel(),
            cancel=cancel,
        )
    assert not (tmp_path / "out").exists()
    assert len(project.models.versions()) == 1


def test_images_without_embeddings_are_asked_for(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """Without a cache the error says to embed first."""
    for path in collection.caches.embeddings.iterdir():
        path.unlink()
    with pytest.raises(InputError, match=r"24 of 24\. Embed the project first"):
        train(project, collection.caches, "propagation", QUICK, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_too_few_labels_are_reported_with_numbers(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """Fewer than two labelled classes and invalid settings are refused before reading."""
    ids = class_ids(project)
    labelled = [
        label for label in project.labels.by_image().values() if label.class_id != ids["Red disc"]
    ]
    project.labels.remove([label.image_id for label in labelled])
    with pytest.raises(
        InputError, match="at least 6 leaf classes with 3 labelled images each, found 1"
    ):
        train(project, collection.caches, "propagation", out=tmp_path / "out")
    with pytest.raises(UsageError, match="no such setting"):
        train(project, collection.caches, "propagation", {"iteration": 4}, out=tmp_path / "out")
    project.labels.remove(list(project.labels.by_image()))
    with pytest.raises(InputError, match="nothing to learn from"):
        train(project, collection.caches, "propagation", out=tmp_path / "out")


def test_only_readable_images_of_known_classes_teach(project: Project) -> None:
    """Failed images and "none of the classes" are skipped."""
    images = list(project.labels.by_image())
    project.labels.set([images[0]], None)
    project.images.record_scan([(images[1], None, "damaged")])
    found = labelled_images(project)
    assert found.image_ids.tolist() == images[2:]
    assert len(found.paths) == len(found.content_hashes) == len(found) == 22


def test_the_graph_as_arrays_knows_true_leaves(project: Project) -> None:
    """A class whose children have no images is no leaf; unlabelled branches are omitted."""
    ids = class_ids(project)
    arrays = graph_arrays(project.classes.graph, np.array([ids["Red"], ids["Blue disc"]]))
    assert set(arrays.names) == {
        "Red",
        "Red disc",
        "Red stripes",
        "Red checks",
        "Blue",
        "Blue disc",
        "Blue stripes",
        "Blue checks",
    }
    assert arrays.is_leaf[
        arrays.positions_of(np.array([ids["Red"], ids["Red disc"]]))
    ].tolist() == [False, True]
    assert arrays.levels[arrays.positions_of(np.array([ids["Red"], ids["Red disc"]]))].tolist() == [
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("counts", "has_coarse", "chosen", "expected"),
    [
        ([5] * 10, False, {}, (3, 1, 2, 0.5)),  # of five images three stay with the leaf
        ([3] * 6, False, {}, (2, 1, 1, 0.5)),
        (
            [2] * 6,
            True,
            {},
            (2, 1, 1, 0.0),
        ),  # there are coarse labels, so no leaf gives any away
        ([40] * 90, False, {}, (20, 5, 5, 0.5)),
        ([20] * 6 + [3] * 3, False, {}, (2, 5, 5, 0.5)),  # by most of the leaves, not the smallest
        ([8] * 9, False, {"shots": 1}, (3, 1, 3, 0.5)),
        ([8] * 9, False, {"ways": "4", "queries": 1, "coarse_share": 0.25}, (4, 3, 1, 0.25)),
    ],
)
def test_episodes_fit_what_is_labelled(
    counts: list[int], has_coarse: bool, chosen: Chosen, expected: tuple[int, int, int, float]
) -> None:
    """Ways, shots, queries and share of coarse labels computed by hand."""
    found = episodes_for(np.array([*counts, 0]), has_coarse=has_coarse, chosen=chosen)
    assert (found.ways, found.shots, found.queries, found.coarse_share) == expected


@pytest.mark.parametrize(
    ("counts", "has_coarse"), [([2] * 9, False), ([9] * 5, True), ([1] * 20, True), ([], False)]
)
def test_projects_that_are_too_small_are_refused(counts: list[int], has_coarse: bool) -> None:
    """Fewer than six leaves with a shot and a query each are refused."""
    with pytest.raises(InputError, match="too little to learn propagation from"):
        episodes_for(np.array(counts, dtype=np.int64), has_coarse=has_coarse, chosen={})
