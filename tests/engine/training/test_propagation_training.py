from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import Cancelled, InputError, ModelError
from engine.events import CancelToken, Progress
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.training.curve import TrainingPoint
from engine.training.export import export_propagation
from engine.training.propagation_training import (
    PropagationTrainingSettings,
    TrainedPropagation,
    train_attention,
)
from engine.training.training_set import EpisodeSettings
from tests.support.prototype_graphs import SyntheticHierarchy, synthetic_hierarchy

# The synthetic coarse classes have images of their own, so no leaf needs to give any away.
EPISODES = EpisodeSettings(coarse_share=0.0)
ATTENTION_ALONE = PropagationTrainingSettings(
    episodes=EPISODES, iterations=150, test_episodes=60, lambda_=0.3, learns_temperature=False
)


def _train(
    hierarchy: SyntheticHierarchy, settings: PropagationTrainingSettings
) -> TrainedPropagation:
    return train_attention(
        hierarchy.embeddings, hierarchy.class_positions, hierarchy.edge_index, settings
    )


@pytest.fixture(scope="module")
def hierarchy() -> SyntheticHierarchy:
    """Leaves with a telling and a vague parent."""
    return synthetic_hierarchy()


@pytest.fixture(scope="module")
def attention_alone(hierarchy: SyntheticHierarchy) -> TrainedPropagation:
    """Trained with lambda and temperature fixed: what changes is the attention's doing."""
    return _train(hierarchy, ATTENTION_ALONE)


@pytest.mark.slow
def test_the_attention_learns_which_parent_to_listen_to(
    attention_alone: TrainedPropagation,
) -> None:
    """On leaf classes it never saw, the loss falls by a fifth and no accuracy is lost.

    It beats no propagation.
    """
    assert attention_alone.after.loss < 0.8 * attention_alone.before.loss
    assert attention_alone.after.accuracy >= attention_alone.before.accuracy
    assert attention_alone.after.accuracy > attention_alone.without_propagation.accuracy
    assert attention_alone.after.queries == 60 * 5 * 5
    assert attention_alone.shrinkage is None


@pytest.mark.slow
def test_the_vague_parents_lose_weight(
    attention_alone: TrainedPropagation, hierarchy: SyntheticHierarchy, tmp_path: Path
) -> None:
    """Seen through the exported file.

    On average the telling parent of a leaf gets most of the weight.
    """
    path = tmp_path / "propagation.onnx"
    export_propagation(attention_alone.network(), path)
    positions = np.arange(len(hierarchy.embeddings))
    class_count = int(hierarchy.edge_index.max()) + 1
    result = PropagationSession(path).run(
        hierarchy.embeddings,
        positions,
        hierarchy.class_positions,
        hierarchy.edge_index,
        np.full(class_count, 0.3, np.float32),
    )
    weights = result.weights.reshape(hierarchy.leaf_count, 2)  # telling, vague
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)
    assert weights[:, 0].mean() > 0.7


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result(hierarchy: SyntheticHierarchy) -> None:
    """Bit for bit, whatever the global generators hold; another seed gives another result."""
    settings = replace(ATTENTION_ALONE, iterations=10, validation_episodes=5, test_episodes=5)
    first = _train(hierarchy, settings)
    torch.rand(3)
    second = _train(hierarchy, settings)
    other = _train(hierarchy, replace(settings, seed=1))
    assert torch.equal(first.attention.g.weight, second.attention.g.weight)
    assert (first.history, first.after) == (second.history, second.after)
    assert not torch.equal(first.attention.g.weight, other.attention.g.weight)


@pytest.mark.slow
def test_temperature_and_shrinkage_are_learned_too(hierarchy: SyntheticHierarchy) -> None:
    """From a temperature far too low, on classes never seen.

    The loss falls by half and accuracy stays.
    """
    settings = replace(
        ATTENTION_ALONE, iterations=100, lambda_=None, learns_temperature=True, temperature=3.0
    )
    trained = _train(hierarchy, settings)
    assert trained.temperature > 4.0
    assert trained.shrinkage is not None
    assert trained.shrinkage != settings.shrinkage
    assert trained.after.loss < 0.5 * trained.before.loss
    assert trained.after.accuracy >= trained.before.accuracy


def test_on_a_tree_only_the_scalars_move() -> None:
    """With one parent each, softmax leaves the attention nothing to learn.

    Coarse labels come from the leaves.
    """
    hierarchy = synthetic_hierarchy(leaves=18)
    tree = replace(hierarchy, edge_index=hierarchy.edge_index[:, ::2].copy())
    settings = PropagationTrainingSettings(
        iterations=20, validation_episodes=5, test_episodes=5, weight_decay=0.0
    )
    trained = _train(tree, settings)
    untrained = _train(tree, replace(settings, iterations=0))
    assert torch.equal(trained.attention.g.weight, untrained.attention.g.weight)
    assert trained.temperature != untrained.temperature


@pytest.mark.slow
def test_the_best_state_on_the_validation_classes_is_kept(hierarchy: SyntheticHierarchy) -> None:
    """A learning rate that ruins everything leaves the start in place."""
    settings = replace(
        ATTENTION_ALONE,
        iterations=20,
        validation_interval=5,
        validation_episodes=10,
        test_episodes=10,
        learns_temperature=True,
        scalar_learning_rate=5.0,
    )
    trained = _train(hierarchy, settings)
    assert [point.iteration for point in trained.history] == [0, 5, 10, 15, 20]
    best = min(trained.history, key=lambda point: point.measured_loss)
    assert trained.kept_iteration == best.iteration
    assert best.measured_loss < trained.history[-1].measured_loss
    assert best.measured_loss <= trained.history[0].measured_loss


def test_progress_is_reported_and_a_stop_is_obeyed(hierarchy: SyntheticHierarchy) -> None:
    """Stopped by its own listener at the first report, long before the end."""
    reports: list[Progress] = []
    cancel = CancelToken()

    def on_progress(progress: Progress) -> None:
        reports.append(progress)
        cancel.cancel()

    with pytest.raises(Cancelled):
        train_attention(
            hierarchy.embeddings,
            hierarchy.class_positions,
            hierarchy.edge_index,
            replace(ATTENTION_ALONE, iterations=100_000, validation_episodes=2, test_episodes=2),
            on_progress=on_progress,
            cancel=cancel,
        )
    assert (reports[0].total, reports[0].unit) == (100_000, "episodes")


def test_a_project_with_too_few_classes_learns_what_it_takes() -> None:
    """No labels at all is an answer, not a crash."""
    nothing = np.zeros(0, np.int64)
    with pytest.raises(InputError, match="too little to learn propagation from"):
        train_attention(np.zeros((0, 4), np.float32), nothing, np.array([[0], [1]]))


def test_each_point_is_reported_as_it_comes(hierarchy: SyntheticHierarchy) -> None:
    """The listener hears the history, accuracy included, while training goes on."""
    settings = replace(
        ATTENTION_ALONE, iterations=4, validation_interval=2, validation_episodes=3, test_episodes=3
    )
    reported: list[TrainingPoint] = []
    trained = train_attention(
        hierarchy.embeddings,
        hierarchy.class_positions,
        hierarchy.edge_index,
        settings,
        on_point=reported.append,
    )
    assert tuple(reported) == trained.history
    assert [point.iteration for point in reported] == [0, 2, 4]
    assert all(point.accuracy is not None and 0 <= point.accuracy <= 1 for point in reported)


@pytest.mark.slow
def test_training_goes_on_from_an_attention(
    hierarchy: SyntheticHierarchy, attention_alone: TrainedPropagation
) -> None:
    """What one training ended with is where the next begins, and it is left as it was."""
    settings = replace(ATTENTION_ALONE, iterations=0)
    start = attention_alone.attention
    weight = start.g.weight.detach().clone()
    trained = train_attention(
        hierarchy.embeddings, hierarchy.class_positions, hierarchy.edge_index, settings, start=start
    )
    assert trained.before == trained.after == attention_alone.after
    train_attention(
        hierarchy.embeddings,
        hierarchy.class_positions,
        hierarchy.edge_index,
        replace(settings, iterations=3, validation_episodes=2, test_episodes=2),
        start=start,
    )
    assert torch.equal(start.g.weight, weight)


def test_an_attention_of_another_width_is_refused(
    hierarchy: SyntheticHierarchy, attention_alone: TrainedPropagation
) -> None:
    """It was made for other embeddings."""
    with pytest.raises(ModelError, match="expected width 8, found 12"):
        train_attention(
            hierarchy.embeddings[:, :8],
            hierarchy.class_positions,
            hierarchy.edge_index,
            ATTENTION_ALONE,
            start=attention_alone.attention,
        )


@pytest.mark.slow
def test_held_out_images_are_counted(attention_alone: TrainedPropagation) -> None:
    """Of 36 leaves with 16 images each, 2 + 20% of the 30 to spare are held out."""
    assert attention_alone.held_out_images == 8 * 16


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PropagationTrainingSettings(iterations=-1), "iterations"),
        (lambda: PropagationTrainingSettings(validation_interval=0), "validation_interval"),
        (lambda: PropagationTrainingSettings(lambda_=2.0), "lambda_"),
        (lambda: PropagationTrainingSettings(temperature=0.0), "temperature"),
        (lambda: EpisodeSettings(ways=1), "ways"),
        (lambda: EpisodeSettings(held_out_share=0.7), "held_out_share"),
    ],
)
def test_settings_out_of_range_are_refused(make: Callable[[], object], name: str) -> None:
    """Where they are made, not in the middle of a training."""
    with pytest.raises(InputError, match=f"the setting {name} is"):
        make()
