"""Training time is estimated before and during a training."""

import time

import pytest
import torch
from torch import Tensor, nn

from engine.backbones.model_files import ACCURATE, FAST
from engine.collection.training import measurement
from engine.collection.training.measurement import Pace, ending_s, estimate_duration, measured_pace
from engine.collection.training.settings import Chosen, is_likely_to_help
from engine.collection.training.train import train
from engine.events import Progress
from engine.project import Project
from engine.training.level_wise import PrototypePropagation
from tests.support.collections import Collection, class_ids

QUICK: Chosen = {"iterations": 6, "points": 1, "device": "cpu"}


@pytest.fixture(autouse=True)
def in_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU time is measured, independent of other load."""
    monkeypatch.setattr(time, "perf_counter", time.process_time)


def test_learning_takes_longer_than_looking() -> None:
    """Statistics of batches are unchanged."""
    norm = nn.BatchNorm2d(16)
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3), norm, nn.ReLU(), nn.Conv2d(16, 16, 3), nn.Flatten()
    )
    pace = measured_pace(network, 48, "cpu", images=4)
    assert 0 < pace.look_s < pace.step_s / 4
    assert network.training
    assert norm.running_mean is not None
    assert not norm.running_mean.any()
    assert all(parameter.grad is None for parameter in network.parameters())
    assert ending_s(0.5, 100) - ending_s(0.5, 0) == pytest.approx(0.5 * 400)


@pytest.mark.slow
def test_more_work_takes_longer(project: Project, collection: Collection) -> None:
    """The estimate grows with iterations, classes and evaluations."""
    plain, wide, watched = (
        estimate_duration(project, collection.caches, {**QUICK, "side": 32, **more})
        for more in ({}, {"ways": 8}, {"points": 100})
    )
    assert plain.seconds(100) == pytest.approx(plain.others_s + 100 * plain.iteration_s)
    assert wide.iteration_s > plain.iteration_s
    assert watched.others_s > plain.others_s


def _counting(monkeypatch: pytest.MonkeyPatch, pace: Pace) -> None:
    """A network that takes a fixed time per image."""

    def measured(_network: nn.Module, _side: int, _device: str, *, images: int) -> Pace:
        return Pace(pace.step_s * images, pace.look_s)

    monkeypatch.setattr(measurement, "measured_pace", measured)


@pytest.mark.slow
def test_an_iteration_takes_the_images_that_are_drawn(
    project: Project, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coarse labels count if they make a task; a level with one labelled class has none."""
    _counting(monkeypatch, Pace(1.0, 0.0))
    ids = class_ids(project)
    unlabelled = sorted(
        {record.image_id for record in project.images.records()} - project.labels.by_image().keys()
    )

    def images() -> int:
        return round(
            estimate_duration(project, collection.caches, QUICK).iteration_s
            / measurement._STEP_MORE  # noqa: SLF001
        )

    assert images() == 5 * (1 + 1)
    project.labels.set(unlabelled[:4], ids["Red"])
    assert images() == 5 * (1 + 1)
    project.labels.set(unlabelled[4:8], ids["Blue"])
    assert 5 * (1 + 1) + 6 <= images() <= 5 * (1 + 1) + 8  # a draw may lack one of the two


@pytest.mark.slow
def test_the_looks_of_a_training_are_reported(
    project: Project, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 10 % of the embedded images: statistics, prototypes and curve points."""
    _counting(monkeypatch, Pace(0.0, 1.0))
    nothing = {**QUICK, "start": "conv4", "side": 32, "points": 3}
    estimated = estimate_duration(project, collection.caches, nothing).others_s - ending_s(0.0, 0)
    looked: list[int] = []
    embed = PrototypePropagation.embed

    def counted(self: PrototypePropagation, images: Tensor) -> Tensor:
        if not torch.is_grad_enabled():
            looked.append(len(images))
        return embed(self, images)

    monkeypatch.setattr(PrototypePropagation, "embed", counted)
    files = train(project, collection.caches, "backbone", nothing, out=collection.folder / "out")
    exported = 24 + 2 * 24  # by the exported file, and for its companion
    assert estimated == pytest.approx(sum(looked) + exported + measurement._BEGINNING_S, rel=0.1)  # noqa: SLF001
    assert files.figures["labelled_images"] == 24


@pytest.mark.slow
def test_a_training_takes_about_as_long_as_was_estimated(
    project: Project, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a wide factor; the remaining time includes the export.

    Libraries are loaded before, so that this does not count.
    """
    monkeypatch.setattr(measurement, "_BEGINNING_S", 0.0)
    estimated_s = min(
        estimate_duration(project, collection.caches, QUICK).seconds(6) for _ in range(3)
    )
    reports: list[Progress] = []
    started_s = time.process_time()
    train(
        project,
        collection.caches,
        "backbone",
        QUICK,
        out=collection.folder / "out",
        on_progress=reports.append,
    )
    taken_s = time.process_time() - started_s
    assert estimated_s / 4 < taken_s < estimated_s * 4
    assert all(report.seconds_left is None for report in reports if report.unit == "images")


@pytest.mark.parametrize(
    ("shots", "trained_on", "expected"),
    [
        ([5, 5, 5, 5], 0, True),
        ([1, 2, 1, 1], 0, False),  # too few of each
        ([9, 0, 0, 0], 0, False),  # one class only
        ([5, 5, 1, 1, 1], 0, False),  # too few of most
        ([5, 5, 5, 5], 20, False),  # already trained on these
        ([8, 8, 8, 8], 20, True),
        ([], 0, False),
    ],
)
def test_when_training_is_likely_to_help(shots: list[int], trained_on: int, expected: bool) -> None:
    """By the rule measured in decision 47."""
    assert is_likely_to_help(shots, trained_on=trained_on) is expected


@pytest.mark.parametrize(("accuracy", "expected"), [(1.0, False), (0.99, True), (None, True)])
def test_nothing_is_left_to_gain_where_all_is_right(accuracy: float | None, expected: bool) -> None:
    """Training is not recommended without errors on held-out labels."""
    assert is_likely_to_help([5, 5, 5, 5], accuracy=accuracy) is expected


@pytest.mark.parametrize(
    ("model_name", "shots", "expected"),
    [(ACCURATE, 4, False), (ACCURATE, 5, True), (FAST, 2, True), ("Trained backbone 1", 2, True)],
)
def test_the_accurate_backbone_needs_more_labels(
    model_name: str, shots: int, expected: bool
) -> None:
    """With few labels training makes it worse: a loss at two shots, a gain at five."""
    assert is_likely_to_help([shots] * 4, model_name=model_name) is expected
