import numpy as np
import pytest
from torch import nn

from engine.errors import InputError
from engine.training.level_wise import EpisodeShape
from research.baselines.baseline import Baseline, baseline_sampler
from research.baselines.closer_look import CloserLook, CloserLookSettings
from research.baselines.gnn import FewShotGnn, GnnSettings
from research.baselines.graph_network import GraphNetworkSettings
from research.baselines.prototypical_net import PrototypicalNet
from research.baselines.task_fitting import FittingSettings
from tests.support.few_shot_problems import colour_training_set

WIDTH = 6
NAMES = ("prototypical net", "gnn", "closer look")


def baseline(name: str) -> Baseline:
    """A small baseline for embeddings of width 6, with a dummy backbone."""
    training_set = colour_training_set()
    sampler = baseline_sampler(training_set, EpisodeShape(4, 2), level_wise=False)
    if name == "gnn":
        settings = GnnSettings(
            max_ways=4, network=GraphNetworkSettings(projected_width=8, edge_width=8)
        )
        return FewShotGnn(nn.Identity(), WIDTH, sampler, settings)
    if name == "closer look":
        few_epochs = CloserLookSettings(fitting=FittingSettings(epochs=5))
        return CloserLook(nn.Identity(), WIDTH, training_set, few_epochs)
    return PrototypicalNet(nn.Identity(), sampler)


def random_tasks(count: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Support (T, 4, 2, 6) and queries (T, 5, 6)."""
    generator = np.random.default_rng(0)
    support = generator.normal(size=(count, 4, 2, WIDTH)).astype(np.float32)
    return support, generator.normal(size=(count, 5, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_predictions_have_a_place_for_every_query(name: str) -> None:
    """Predictions are (T, q) int64 in [0, N)."""
    predicted = baseline(name).predict(*random_tasks(), seed=0)
    assert predicted.shape == (3, 5)
    assert predicted.dtype == np.int64
    assert set(predicted.ravel().tolist()) <= {0, 1, 2, 3}


@pytest.mark.parametrize("name", NAMES)
def test_a_task_does_not_depend_on_its_company(name: str) -> None:
    """Computing tasks one at a time, together, or without later ones gives the same predictions."""
    objective = baseline(name)
    support, queries = random_tasks(5)
    together = objective.predict(support, queries, seed=3)
    objective.tasks_at_once = 2
    assert np.array_equal(objective.predict(support, queries, seed=3), together)
    assert np.array_equal(objective.predict(support[:2], queries[:2], seed=3), together[:2])


@pytest.mark.parametrize("name", NAMES)
def test_predicting_changes_nothing(name: str) -> None:
    """Training mode, weights and running statistics do not change."""
    objective = baseline(name)
    objective.train()
    before = {key: value.clone() for key, value in objective.state_dict().items()}
    objective.predict(*random_tasks(), seed=0)
    assert objective.training
    assert all(value.equal(before[key]) for key, value in objective.state_dict().items())


@pytest.mark.parametrize("name", NAMES)
def test_read_only_embeddings_will_do(name: str) -> None:
    """Read-only memory-mapped embeddings raise no warning."""
    support, queries = random_tasks()
    support.flags.writeable = queries.flags.writeable = False
    assert baseline(name).predict(support, queries, seed=0).shape == (3, 5)


def test_unlike_embeddings_are_refused() -> None:
    """Support and queries of different tasks or widths raise an error."""
    objective = baseline("prototypical net")
    support, queries = random_tasks()
    with pytest.raises(InputError, match=r"do not belong.*\(3, 4, 2, 6\) and \(2, 5, 6\)"):
        objective.predict(support, queries[:2], seed=0)
    with pytest.raises(InputError, match="do not belong"):
        objective.predict(support, queries[:, :, :4], seed=0)
    with pytest.raises(InputError, match="do not belong"):
        objective.predict(support[:, :, :0], queries, seed=0)


def test_level_wise_episodes_have_support_on_every_level() -> None:
    """A coarse class has as many support images as shots; the rest of its ten are queries."""
    sampler = baseline_sampler(colour_training_set(), EpisodeShape(4, 3), level_wise=True)
    tasks = sampler.draw(np.random.default_rng(0)).tasks
    assert len(tasks) > 1
    assert {task.support.shape[1] for task in tasks} == {3}
    assert {len(task.queries) // len(task.classes) for task in tasks[1:]} == {7}


def test_plain_episodes_have_the_few_shot_task_only() -> None:
    """Without the star no images of coarse classes are used."""
    draw = baseline_sampler(colour_training_set(), EpisodeShape(4, 3), level_wise=False).draw(
        np.random.default_rng(0)
    )
    assert len(draw.tasks) == 1
    assert len(draw.images) == 4 * 6


def test_coarse_classes_without_queries_are_refused() -> None:
    """Ten images that are all support leave no queries."""
    with pytest.raises(InputError, match="support images only"):
        baseline_sampler(
            colour_training_set(), EpisodeShape(4, 5, coarse_images=5), level_wise=True
        )
