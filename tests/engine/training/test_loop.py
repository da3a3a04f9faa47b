from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import Cancelled, FormatError, InputError, ModelError
from engine.events import CancelToken, Progress
from engine.model.propagation import squared_distances
from engine.training import checkpoints
from engine.training.curve import CHECKPOINT_NAME, TrainingPoint
from engine.training.level_wise import EpisodeShape, LevelWiseSettings, PrototypePropagation
from engine.training.loop import Embed, IterationDraw, Validate, embedder, train
from engine.training.training_set import TrainingSet
from tests.support.few_shot_problems import colour_training_set
from tests.support.small_trainings import (
    PlainObjective,
    different,
    hidden_pattern_set,
    small_objective,
    small_settings,
    state_of,
)

PIXELS = colour_training_set().pixels
TINY = np.random.default_rng(0).integers(0, 256, (12, 4, 4, 3), dtype=np.uint8)


def plain_objective(pixels: NDArray[np.uint8] = TINY) -> PlainObjective:
    """A linear backbone on tiny images."""
    torch.manual_seed(0)
    return PlainObjective(nn.Sequential(nn.Flatten(), nn.Linear(pixels[0].size, 2)), len(pixels))


def nearest_mean_accuracy(training_set: TrainingSet) -> Validate:
    """Accuracy on the second half of each few-shot class's images, by the first half's mean."""
    own = [training_set.images_by_class[position] for position in training_set.few_shot]
    half = len(own[0]) // 2
    targets = torch.arange(len(own)).repeat_interleave(half)

    def validate(embed: Embed) -> float:
        means = (
            embed(np.concatenate([images[:half] for images in own]))
            .reshape(len(own), half, -1)
            .mean(dim=1)
        )
        queries = embed(np.concatenate([images[half:] for images in own]))
        return (squared_distances(queries, means).argmin(dim=1) == targets).float().mean().item()

    return validate


@pytest.mark.slow
def test_learns_hidden_patterns() -> None:
    """Forty iterations of Algorithm 1 find the faint patterns of the classes, on unseen images."""
    training_set = hidden_pattern_set()
    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(192, 8))
    settings = LevelWiseSettings(EpisodeShape(8, 5), epoch_iterations=2)
    objective = PrototypePropagation(backbone, 8, training_set, settings)
    validate = nearest_mean_accuracy(training_set)
    before = validate(embedder(objective, training_set.pixels, 8))
    plan = small_settings(
        iterations=40, side=8, learning_rate=1e-2, augmentation="none", point_interval=20
    )
    outcome = train(objective, training_set.pixels, plan, validate=validate)
    assert outcome.curve[-1].accuracy is not None
    assert before < 0.5
    assert outcome.curve[-1].accuracy > before + 0.3


@pytest.mark.slow
def test_same_seed_same_weights() -> None:
    """A training repeats bit for bit; another seed draws otherwise, so it ends elsewhere."""
    ends = []
    for seed in (0, 0, 1):
        objective = small_objective()
        train(objective, PIXELS, small_settings(iterations=3, seed=seed))
        ends.append(state_of(objective))
    assert different(ends[0], ends[1]) == []
    assert "backbone.layers.0.weight" in different(ends[0], ends[2])


def test_global_random_numbers_play_no_part() -> None:
    """What else uses the global generators does not change a training."""
    ends = []
    for seed in (1, 2):
        objective = plain_objective()
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (the old generator is the point)
        train(objective, TINY, small_settings(side=4))
        ends.append(state_of(objective))
    assert different(ends[0], ends[1]) == []


class RateWatcher(PlainObjective):
    """Collects how far the first weight moves in each iteration.

    With Adam and one sign of gradient, the rate.
    """

    def __init__(self) -> None:
        super().__init__(nn.Sequential(nn.Flatten(), nn.Linear(48, 1)), len(TINY))
        self.seen: list[float] = []

    def loss(self, embeddings: Tensor, draw: IterationDraw) -> Tensor:  # noqa: ARG002
        """A gradient of 1 on the bias, always."""
        bias = self.backbone.get_parameter("1.bias")
        self.seen.append(bias.item())
        return bias.sum() + 0.0 * embeddings.sum()


def test_learning_rate_falls_as_planned() -> None:
    """Fifteen iterations decay at the 1st (1/15) and then after each 1.5: at 1, 2.5, 4, ..."""
    objective = RateWatcher()
    settings = small_settings(iterations=15, side=4, learning_rate=0.1, weight_decay=0.0)
    train(objective, TINY, settings)
    moves = -np.diff(objective.seen)
    expected = [settings.learning_rate_at(iteration) for iteration in range(14)]
    np.testing.assert_allclose(moves, expected, rtol=1e-3)
    np.testing.assert_allclose(expected[:5], [0.1, 0.07, 0.07, 0.049, 0.0343], rtol=1e-6)


def test_curve_and_progress() -> None:
    """A point after each interval and at the end, each with the mean loss since the last.

    Progress ends complete.
    """
    points: list[TrainingPoint] = []
    reports: list[Progress] = []
    asked: list[int] = []

    def validate(embed: Embed) -> float:
        asked.append(len(embed(np.arange(3))))
        return 0.25

    outcome = train(
        plain_objective(),
        TINY,
        small_settings(iterations=5, side=4),
        validate=validate,
        on_point=points.append,
        on_progress=reports.append,
    )
    assert [point.iteration for point in points] == [2, 4, 5]
    assert {point.accuracy for point in points} == {0.25}
    assert asked == [3, 3, 3]
    assert outcome.curve == tuple(points)
    assert outcome.iterations == 5
    assert (reports[0].done, reports[-1].done, reports[-1].total, reports[-1].unit) == (
        0,
        5,
        5,
        "iterations",
    )


def test_losses_of_a_point_are_averaged() -> None:
    """One point over four iterations has the mean of the four losses."""
    ends = [
        train(
            plain_objective(), TINY, small_settings(iterations=4, side=4, point_interval=interval)
        ).curve
        for interval in (1, 4)
    ]
    assert ends[1][0].loss == pytest.approx(np.mean([point.loss for point in ends[0]]))
    assert ends[1][0].accuracy is None


class RefreshWatcher(PlainObjective):
    """Remembers when it was refreshed, and whether with a generator."""

    refresh_interval = 3

    def __init__(self) -> None:
        super().__init__(nn.Sequential(nn.Flatten(), nn.Linear(48, 1)), len(TINY))
        self.log: list[object] = []

    def draw(self, generator: np.random.Generator) -> IterationDraw:
        """Note the iteration."""
        self.log.append("draw")
        return super().draw(generator)

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
        """Note the refresh, which embeds in evaluation mode and returns to training."""
        assert not embed(np.arange(2)).requires_grad
        assert self.training
        self.log.append("all" if generator is None else generator.integers(1000))


def test_refresh_comes_first_and_last() -> None:
    """Before iterations 0, 3, 6 with generators of their own; at the end, without one.

    From all images.
    """
    objective = RefreshWatcher()
    train(objective, TINY, small_settings(side=4))
    marks = [entry for entry in objective.log if entry != "draw"]
    places = [place for place, entry in enumerate(objective.log) if entry != "draw"]
    assert places == [0, 4, 8, 11]
    assert marks[-1] == "all"
    assert len(set(marks)) == 4
    assert not objective.training


@pytest.mark.slow
def test_buffer_of_the_end_belongs_to_the_final_weights() -> None:
    """After training, P0 is the mean over all images under the final backbone."""
    objective = small_objective()
    train(objective, PIXELS, small_settings(iterations=4))
    own = colour_training_set().images_by_class[7]
    mean = embedder(objective, PIXELS, 16)(own).mean(dim=0)
    torch.testing.assert_close(objective.buffer.vectors[7], mean, rtol=1e-4, atol=1e-5)


def test_batch_norms_are_settled_before_the_first_refresh() -> None:
    """The first buffer is computed with the images' statistics, not with mean 0 and variance 1."""
    statistics: list[float] = []

    class Watcher(PrototypePropagation):  # type: ignore[misc]  # final: watched, not extended
        def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
            statistics.append(float(self.backbone.get_buffer("layers.1.num_batches_tracked")))
            super().refresh(embed, generator)

    usual = small_objective()
    objective = Watcher(
        usual.backbone, usual.attention.embedding_width, colour_training_set(), usual.settings
    )
    train(objective, PIXELS, small_settings(iterations=1))
    assert statistics == [20.0, 21.0]


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [0, 5])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_cancelled_and_resumed_is_as_if_never_stopped(
    tmp_path: Path, precision: str, stop_at: int
) -> None:
    """A cancel keeps a checkpoint.

    Going on from it ends with the same bits, in either number type.
    """
    has_bfloat16 = torch.cpu._is_avx512_bf16_supported()  # noqa: SLF001 (no public function)
    if precision == "bfloat16" and not has_bfloat16:
        pytest.skip("this processor has no instructions for bfloat16")
    settings = small_settings(precision=precision, point_interval=1)
    whole, stopped, resumed = small_objective(), small_objective(), small_objective(seed=7)
    uninterrupted = train(whole, PIXELS, settings)
    cancel = CancelToken()
    if stop_at == 0:
        cancel.cancel()
    with pytest.raises(Cancelled):
        train(
            stopped, PIXELS, settings, tmp_path, on_point=_cancel_at(stop_at, cancel), cancel=cancel
        )
    assert checkpoints.read(tmp_path / CHECKPOINT_NAME).iteration == stop_at
    outcome = train(resumed, PIXELS, settings, tmp_path)
    assert different(state_of(whole), state_of(resumed)) == []
    assert outcome == uninterrupted


def _cancel_at(iteration: int, cancel: CancelToken) -> Callable[[TrainingPoint], None]:
    return lambda point: cancel.cancel() if point.iteration == iteration else None


def test_a_finished_training_is_left_as_it_is(tmp_path: Path) -> None:
    """Doing it again gives the same model at once, without an iteration."""
    first, again = plain_objective(), plain_objective()
    outcome = train(first, TINY, small_settings(side=4), tmp_path)
    points: list[TrainingPoint] = []
    assert train(again, TINY, small_settings(side=4), tmp_path, on_point=points.append) == outcome
    assert points == []
    assert different(state_of(first), state_of(again)) == []
    assert not again.training


class NotANumber(PlainObjective):
    """Its loss is not a number from the sixth iteration on."""

    def __init__(self) -> None:
        super().__init__(nn.Sequential(nn.Flatten(), nn.Linear(48, 1)), len(TINY))
        self._calls = 0

    def loss(self, embeddings: Tensor, draw: IterationDraw) -> Tensor:
        """A loss, five times."""
        self._calls += 1
        return super().loss(embeddings, draw) * (float("nan") if self._calls > 5 else 1.0)


def test_a_loss_that_is_no_number(tmp_path: Path) -> None:
    """Training stops with advice, and the last checkpoint is from before."""
    with pytest.raises(
        ModelError, match=r"no longer a number.*found nan in iteration 6\. Train with a lower"
    ):
        train(NotANumber(), TINY, small_settings(side=4), tmp_path)
    checkpoint = checkpoints.read(tmp_path / CHECKPOINT_NAME)
    assert checkpoint.iteration == 3
    assert all(value.isfinite().all() for value in checkpoint.tensors.values())


def test_too_small_images() -> None:
    """Training at a side that the images do not have is refused before the first iteration."""
    with pytest.raises(InputError, match="expected at most 4 px, found 5 px"):
        train(plain_objective(), TINY, small_settings(side=5))


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """The folder of a training that has three of eight iterations."""
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        train(
            plain_objective(),
            TINY,
            small_settings(side=4, point_interval=3),
            tmp_path,
            on_point=_cancel_at(3, cancel),
            cancel=cancel,
        )
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"seed": 5},
            r"another seed: expected 5, found 0 in .*safetensors\. Use the same settings",
        ),
        ({"learning_rate": 0.5}, r"another learning_rate: expected 0\.5, found 0\.001"),
        ({"iterations": 9}, r"another iterations: expected 9, found 8"),
    ],
)
def test_other_settings(begun: Path, changes: dict[str, Any], message: str) -> None:
    """A checkpoint does not go on under settings that would have made it another."""
    with pytest.raises(InputError, match=message):
        train(
            plain_objective(),
            TINY,
            replace(small_settings(side=4, point_interval=3), **changes),
            begun,
        )


def test_freely_changed_settings(begun: Path) -> None:
    """How often points and checkpoints are taken, and on what it runs, may change."""
    settings = small_settings(
        side=4, point_interval=4, checkpoint_interval=1, device="auto", compiles=False
    )
    outcome = train(plain_objective(), TINY, settings, begun)
    assert [point.iteration for point in outcome.curve] == [3, 4, 8]


def test_another_architecture(begun: Path) -> None:
    """A checkpoint of another backbone is refused by the name of what differs."""
    other = PlainObjective(nn.Sequential(nn.Flatten(), nn.Linear(48, 3)), len(TINY))
    with pytest.raises(
        ModelError, match=r"another architecture: expected backbone\.1\.bias \(3,\), found \(2,\)"
    ):
        train(other, TINY, small_settings(side=4, point_interval=3), begun)


def test_a_torn_checkpoint(begun: Path) -> None:
    """Training does not silently start anew over a file that it cannot read."""
    (begun / CHECKPOINT_NAME).write_bytes(b"torn")
    with pytest.raises(FormatError, match="cannot be read"):
        train(plain_objective(), TINY, small_settings(side=4, point_interval=3), begun)


def test_embedder_works_in_blocks() -> None:
    """Many images give the same rows as few; the mode of the objective is as before."""
    pixels = np.random.default_rng(0).integers(0, 256, (600, 4, 4, 3), dtype=np.uint8)
    objective = plain_objective(pixels).train()
    embed = embedder(objective, pixels, 4)
    all_rows = embed(np.arange(600))
    assert all_rows.shape == (600, 2)
    torch.testing.assert_close(embed(np.array([599, 3])), all_rows[[599, 3]])
    assert objective.training
    assert not all_rows.requires_grad
