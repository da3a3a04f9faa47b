"""Rows beyond the paper: PPN or PPN+ with a tuned lambda, alone or with one thing more, tested on the same tasks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from research.testing.bench import Bench, EmbeddedTasks, validation_images
from research.testing.propagation import LearnedPropagation, PropagationOptions, predict
from research.testing.tasks import TASK_SEED, draw_tasks

VALIDATION_TASKS: Final = 200
LAMBDAS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Variation:
    """What is done otherwise than in the paper: lambda is tuned, alone or together with one thing more.

    Attributes:
        name: what follows the colon in the row's name.
        options: candidates; the one that does best on validation tasks is tested.
    """

    name: str
    options: tuple[PropagationOptions, ...]


def variations(paper: PropagationOptions) -> tuple[Variation, ...]:
    """What is tried on top of one of the paper's two settings; what lost is named in docs/experiments.md."""
    with_lambda = tuple(replace(paper, lambda_=value) for value in LAMBDAS)
    tried = [Variation("tuned-lambda", with_lambda)]
    if paper.knows_edges:
        tried.append(Variation("mean-of-seen", _each(with_lambda, seen_parents="mean")))
        tried.append(Variation("whitened", _each(with_lambda, whitens=True)))
    else:
        tried.append(Variation("10-nearest", _each(with_lambda, nearest=10)))
    return tuple(tried)


def _each(options: tuple[PropagationOptions, ...], **changes: object) -> tuple[PropagationOptions, ...]:
    return tuple(replace(each, **changes) for each in options)  # type: ignore[arg-type]


def tuned(
    bench: Bench, trained: LearnedPropagation, variation: Variation, *, ways: int, shots: int
) -> PropagationOptions:
    """The candidate that does best on tasks over training classes; test classes have no say.

    A training class is not its own parent there. Because the buffer still holds its siblings' prototypes, which its own
    images had a part in shaping, validation flatters propagation a little.
    """
    if len(variation.options) == 1:
        return variation.options[0]
    embedded = bench.embed_tasks(
        draw_tasks(validation_images(bench.data), ways=ways, shots=shots, count=VALIDATION_TASKS, seed=TASK_SEED + 1)
    )

    def accuracy(options: PropagationOptions) -> float:
        return float(embedded.tasks.accuracies(predict(bench, embedded, trained, options)).mean())

    return max(variation.options, key=accuracy)


def beyond_accuracies(
    bench: Bench, embedded: EmbeddedTasks, trained: LearnedPropagation, paper: PropagationOptions
) -> Iterator[tuple[str, PropagationOptions, tuple[float, ...]]]:
    """Name, chosen options and accuracies (T,) of each variation of one of the paper's two settings."""
    ways, shots = embedded.support.shape[1:3]
    for variation in variations(paper):
        options = tuned(bench, trained, variation, ways=ways, shots=shots)
        accuracies = embedded.tasks.accuracies(predict(bench, embedded, trained, options))
        yield variation.name, options, tuple(accuracies.tolist())
