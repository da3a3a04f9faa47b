"""Training a backbone on the images of a project."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.training.labelled import (
    GraphArrays,
    TrainingImages,
    graph_arrays,
    project_images,
    shape_for,
)
from engine.collection.training.settings import BackboneSettings, Chosen, TrainingStage
from engine.collection.training.train import train
from engine.collection.training.trained import FIGURE_NAMES, TrainedFiles, adopt, read_trained
from engine.errors import Cancelled, InputError, StorageError
from engine.events import CancelToken, Progress, ignore_progress
from engine.project import Project
from engine.training.curve import TrainingPoint
from engine.training.level_wise import LevelWiseSampler
from tests.support.collections import LEAVES, Collection, class_ids

QUICK: Chosen = {"start": "conv4", "side": 32, "iterations": 2, "points": 2, "device": "cpu"}


@dataclass(frozen=True)
class Training:
    """A training and its reports."""

    files: TrainedFiles
    points: Sequence[TrainingPoint]
    reports: Sequence[Progress]


@pytest.fixture(scope="module")
def training(embedded_once: Collection, tmp_path_factory: pytest.TempPathFactory) -> Training:
    """Two iterations of the smallest network on a read-only project."""
    points: list[TrainingPoint] = []
    reports: list[Progress] = []
    with Project.open(embedded_once.project, for_writing=False) as project:
        files = train(
            project,
            embedded_once.caches,
            "backbone",
            QUICK,
            out=tmp_path_factory.mktemp("trained") / "out",
            on_point=points.append,
            on_progress=reports.append,
        )
    return Training(files, points, reports)


def _read(
    project: Project, folder: Path, settings: BackboneSettings | None = None
) -> TrainingImages:
    return project_images(
        project,
        settings or BackboneSettings(),
        folder,
        side=36,
        on_progress=ignore_progress,
        cancel=CancelToken(),
    )


@pytest.mark.slow
def test_files_and_figures(training: Training) -> None:
    """A folder with two files, accuracy before and after on one held-out image of each class."""
    files = training.files
    assert read_trained(files.folder) == files
    expected = {"backbone.onnx", "backbone.card.json", "propagation.onnx", "trained.json"}
    assert {path.name for path in files.folder.iterdir()} - {"backbone.int8.onnx"} == expected
    assert set(FIGURE_NAMES) <= files.figures.keys()
    assert (files.figures["held_out_images"], files.figures["iterations"]) == (8, 2)
    assert all(
        0 <= (files.figures[name] or 0) <= 1 for name in ("before_accuracy", "after_accuracy")
    )
    assert (files.card.input_side, files.card.embedding_width) == (32, 64 * 2 * 2)
    assert (files.backbone_name, files.name, files.depth) == (
        "conv4",
        "Trained backbone 1",
        "backbone",
    )


@pytest.mark.slow
def test_the_curve_and_the_progress(training: Training) -> None:
    """Images and iterations are counted, other phases named; every curve point is reported."""
    assert [point.iteration for point in training.points] == [0, 1, 2]
    assert [point.loss is None for point in training.points] == [True, False, False]
    assert all(point.accuracy is not None for point in training.points)
    units = [unit for unit, _ in itertools.groupby(report.unit for report in training.reports)]
    assert units == ["images", "", "iterations", ""]
    assert [report.note for report in training.reports if not report.unit] == list(TrainingStage)
    last = [report for report in training.reports if report.unit == "iterations"][-1]
    assert (last.done, last.total) == (2, 2)
    assert "accuracy" in last.note


@pytest.mark.slow
def test_the_new_backbone_embeds_and_classifies(
    training: Training, project: Project, collection: Collection
) -> None:
    """Embeddings have the new width after adoption; undo restores the old ones."""
    version_id = adopt(project, training.files)
    project.models.choose(version_id)
    summary = embed_project(project, collection.caches, device="cpu")
    assert (summary.embedded, summary.failed) == (64, ())
    assert project.check() == []
    project.history.undo()
    assert embed_project(project, collection.caches, device="cpu").from_cache == 64


@pytest.mark.slow
def test_a_stop_leaves_nothing(project: Project, collection: Collection, tmp_path: Path) -> None:
    """Cancelled while reading images or in the first iteration, it leaves no folder."""
    for unit in ("images", "iterations"):
        cancel = CancelToken()

        def stop(progress: Progress, unit: str = unit, cancel: CancelToken = cancel) -> None:
            if progress.unit == unit:
                cancel.cancel()

        with pytest.raises(Cancelled):
            train(
                project,
                collection.caches,
                "backbone",
                QUICK,
                out=tmp_path / "out",
                on_progress=stop,
                cancel=cancel,
            )
        assert not (tmp_path / "out").exists()


def test_what_is_labelled_becomes_a_training_set(project: Project, tmp_path: Path) -> None:
    """Coarse labels become classes, one of three shots is held out, levels are longest paths."""
    ids = class_ids(project)
    unlabelled = sorted(
        {record.image_id for record in project.images.records()} - project.labels.by_image().keys()
    )
    project.labels.set(unlabelled[:4], ids["Red"])
    images = _read(project, tmp_path)
    training_set, arrays = images.training_set, images.arrays
    assert training_set.pixels.shape == (28, 36, 36, 3)
    assert training_set.pixels.any(axis=(1, 2, 3)).all()
    assert (len(images.training), len(images.held_out), images.broken) == (8 * 2 + 4, 8, 0)
    counts = np.bincount(training_set.class_positions, minlength=len(arrays.class_ids))
    assert counts[
        arrays.positions_of(np.array([ids["Red"], ids["Red disc"], ids["Blue"]]))
    ].tolist() == [4, 2, 0]
    assert {arrays.names[place] for place in training_set.few_shot} == {
        name for name, class_id in ids.items() if not project.classes.graph.children(class_id)
    }
    assert set(training_set.levels.tolist()) == {0, 1}
    assert set(images.images.class_ids[images.held_out].tolist()) <= set(
        arrays.class_ids[arrays.is_leaf].tolist()
    )
    assert (images.shape.ways, images.shape.shots, images.shape.query_count) == (5, 1, 1)


def test_images_that_cannot_be_read_are_left_out(project: Project, tmp_path: Path) -> None:
    """Damaged and missing files are counted; others keep their classes."""
    whole = _read(project, tmp_path)
    paths = [
        project.images.resolve(project.images.record(image_id))
        for image_id in whole.images.image_ids[:2].tolist()
    ]
    paths[0].write_bytes(b"no image")
    paths[1].unlink()
    images = _read(project, tmp_path)
    assert images.broken == 2
    assert len(images.images) == len(images.training_set.pixels) == 22
    assert len(images.training) + len(images.held_out) == 22
    expected = images.arrays.positions_of(images.images.class_ids[images.training])
    assert images.training_set.class_positions.tolist() == expected.tolist()


def test_too_few_images_name_a_class(project: Project, tmp_path: Path) -> None:
    """With one class of enough images the error names another."""
    keep = class_ids(project)["Red disc"]
    project.labels.remove(
        [each.image_id for each in project.labels.by_image().values() if each.class_id != keep][2:]
    )
    project.labels.remove(
        [each.image_id for each in project.labels.by_image().values() if each.class_id != keep][1:]
    )
    with pytest.raises(
        InputError,
        match=r"at least 2 leaf classes with 2 labelled images each, found 1; “.+” has [01]",
    ):
        _read(project, tmp_path)


def test_more_than_there_is_cannot_be_asked_for(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """More ways or shots than labels raise an error and leave nothing."""
    with pytest.raises(InputError, match="9-way 1-shot"):
        train(project, collection.caches, "backbone", {**QUICK, "ways": 9}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _flatten(project: Project, families: Sequence[str]) -> None:
    """Remove some families; their leaves become top-level classes."""
    ids = class_ids(project)
    project.classes.remove([ids[family] for family in families])


@pytest.mark.slow
@pytest.mark.parametrize("families", [["Red", "Green", "Blue"], ["Red"]], ids=["all flat", "mixed"])
def test_classes_at_the_top_level_are_trained(
    project: Project, collection: Collection, tmp_path: Path, families: Sequence[str]
) -> None:
    """Flat lists and top-level leaves: every label is used, every leaf is a few-shot class."""
    _flatten(project, families)
    images = _read(project, tmp_path)
    training_set = images.training_set
    assert (len(images.training), len(images.held_out)) == (8 * 2, 8)
    assert training_set.class_count == 8 + 3 - len(families)
    assert {images.arrays.names[place] for place in training_set.few_shot} == set(LEAVES)
    sampler, generator = LevelWiseSampler(training_set, images.shape), np.random.default_rng(0)
    seen = {image for _ in range(60) for image in sampler.draw(generator).images.tolist()}
    assert seen == set(images.training.tolist())
    files = train(project, collection.caches, "backbone", QUICK, out=tmp_path / "out")
    assert files.figures["held_out_images"] == 8
    assert all(point.loss is None or point.loss > 0 for point in files.history)


@pytest.mark.slow
def test_a_stopped_training_of_a_flat_list_goes_on(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """Although attention has nothing to learn from a flat list."""
    _flatten(project, ["Red", "Green", "Blue"])
    cancel = CancelToken()

    def stop(point: TrainingPoint) -> None:
        if point.iteration == 1:
            cancel.cancel()

    with pytest.raises(Cancelled):
        train(
            project,
            collection.caches,
            "backbone",
            QUICK,
            out=tmp_path / "a",
            on_point=stop,
            cancel=cancel,
        )
    resumed = train(project, collection.caches, "backbone", QUICK, out=tmp_path / "b")
    assert resumed.figures["resumed_iteration"] == 1


def test_a_disk_without_room_is_a_message(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is raised before writing: a mapped file on a full disk would crash the process."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 1000}))
    with pytest.raises(StorageError, match=r"the disk is full: expected .* free"):
        _read(project, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "collection"}


def test_decoded_images_have_no_name(project: Project, tmp_path: Path) -> None:
    """They are in an unlinked file, which a killed training cannot leave behind."""
    folder = tmp_path / "out"
    folder.mkdir()
    images = _read(project, folder)
    assert isinstance(images.training_set.pixels.base, np.memmap)
    assert images.training_set.pixels.any()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_nothing_held_out_has_no_figures(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """A model without accuracy."""
    files = train(
        project,
        collection.caches,
        "backbone",
        {**QUICK, "held_out_share": 0, "iterations": 1},
        out=tmp_path / "out",
    )
    assert (files.figures["before_accuracy"], files.figures["after_accuracy"]) == (None, None)
    assert files.figures["held_out_images"] == 0
    assert files.card.temperature == pytest.approx(0.1)
    assert [point.accuracy for point in files.history] == [None, None]


@pytest.mark.parametrize(
    ("counts", "settings", "expected"),
    [
        ([4] * 21 + [2] * 4, BackboneSettings(), (5, 2, 2)),
        ([2, 2], BackboneSettings(), (2, 1, 1)),
        ([50] * 9, BackboneSettings(), (5, 5, 5)),
        ([3] * 9, BackboneSettings(ways=4, shots=2), (4, 2, 1)),
        ([1, 0], BackboneSettings(), (2, 1, 1)),  # the sampler raises
    ],
)
def test_an_iteration_fits_what_is_labelled(
    counts: list[int], settings: BackboneSettings, expected: tuple[int, int, int]
) -> None:
    """Ways, shots and queries computed by hand."""
    shape = shape_for(np.array(counts), settings)
    assert (shape.ways, shape.shots, shape.query_count) == expected


def test_arrays_of_a_class_with_two_parents(project: Project) -> None:
    """Both edges exist; its level is one below the deeper parent."""
    ids = class_ids(project)
    project.classes.link(ids["Red"], [ids["Blue"]])
    arrays: GraphArrays = graph_arrays(project.classes.graph, np.array([ids["Blue disc"]]))
    assert arrays.levels[arrays.positions_of(np.array([ids["Blue disc"]]))].tolist() == [2]
