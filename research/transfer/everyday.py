"""The everyday model on a draw, by the program's code: in memory or through a project file."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.collection.classify import classify_project
from engine.collection.embed import embed_closer, embed_project
from engine.collection.importing.import_graph import import_graph
from engine.collection.new_project import new_project
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.evaluation.evaluate import evaluate, match_truth
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.scores import calibration_error
from engine.graph.codes import NO_CLASS
from engine.interchange.versions.plan import merge_into
from engine.new_folder import scratch_folder
from engine.project.project import Project
from research.transfer.calibration import gaps
from research.transfer.collection import TRAIN, TransferCollection
from research.transfer.draws import ShotDraw
from research.transfer.embedded import EmbeddedCollection
from research.transfer.parts import accuracies_of, by_part, scored
from research.transfer.results import Figures


def in_memory(
    embedded: EmbeddedCollection, drawn: ShotDraw, *, with_collection: bool = True
) -> Figures:
    """Fit the model to a draw's labels and score the unlabelled images.

    Args:
        embedded: the collection.
        drawn: its labels.
        with_collection: whether the collection stage is on: it learns from all images of the draw,
            scored ones included, but not from their classes.

    Returns:
        `top1`, `balanced` and `macro_f1` of the leaf, `calibration_error` of its score (15 bins)
        and the gap of each bin, `coverage`, the share with a safe class, and `safe_accuracy`, the
        share of those whose safe class is correct; also for each part.
    """
    collection, model = embedded.collection, embedded.model
    rows, class_ids = _labelled(collection, drawn)
    fitted = fit(
        collection.graph,
        embedded.shots(rows, class_ids),
        PropagationSession(model.propagation),
        model.card,
        basis=embedded.basis_of(drawn.rows, rows) if with_collection else None,
    )
    return _figures(embedded, fitted, drawn)


def in_project(
    collection: TransferCollection,
    backbone: str,
    drawn: ShotDraw,
    caches: CacheFolders,
    *,
    with_collection: bool = True,
    device: str = "auto",
) -> Figures:
    """Figures of `in_memory` without gaps, by a project file and the program's commands."""
    rows, class_ids = _labelled(collection, drawn)
    labels = dict(zip(rows.tolist(), class_ids.tolist(), strict=True))
    with (
        scratch_folder() as folder,
        new_project(folder / f"draw{PROJECT_SUFFIX}", backbone) as project,
    ):
        _import_graph(project, collection)
        names = {
            class_id: collection.graph.path_text(class_id)
            for class_id in collection.graph.classes()
        }
        ids: Mapping[int, int] = {
            class_id: project.classes.graph.find(name) for class_id, name in names.items()
        }
        all_rows: list[int] = drawn.rows.tolist()
        project.images.add_labelled(
            [collection.files[row] for row in all_rows],
            [ids[labels[row]] if row in labels else None for row in all_rows],
        )
        embed_project(project, caches, device=device)
        embed_closer(project, caches, device=device)
        rows = scored(collection, drawn)
        predicted = classify_project(project, caches, with_stage=with_collection)

        def score(chosen: NDArray[np.bool_]) -> Figures:
            answers = {
                collection.files[row].path.as_posix(): ids[int(collection.class_ids[row])]
                for row in rows[chosen]
            }
            found = evaluate(project, predicted, answers)
            places, truth, _ = match_truth(project.path.parent, predicted, answers)
            return {
                **accuracies_of(
                    truth, predicted.fitted.candidate_ids[predicted.scores.best[places]]
                ),
                "calibration_error": found.calibration_error,
                "coverage": found.coverage,
                "safe_accuracy": found.safe_accuracy,
            }

        return by_part(collection, rows, score)


def _import_graph(project: Project, collection: TransferCollection) -> None:
    imported = collection.imported
    if imported is None:
        import_graph(project, collection.source / TRAIN)
    else:
        project.classes.edit(lambda graph: merge_into(graph, imported))


def _labelled(
    collection: TransferCollection, drawn: ShotDraw
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of all labelled images, ascending as in a project, and their labels."""
    rows = np.concatenate([drawn.shots, drawn.coarse])
    class_ids = np.concatenate([collection.class_ids[drawn.shots], drawn.coarse_ids])
    order = np.argsort(rows)
    return rows[order], class_ids[order]


def _figures(embedded: EmbeddedCollection, fitted: EverydayModel, drawn: ShotDraw) -> Figures:
    collection = embedded.collection
    rows = scored(collection, drawn)
    answers = collection.class_ids[rows]
    places = np.searchsorted(drawn.rows, rows)
    scores = fitted.classify(embedded.embeddings[rows], places)
    given = fitted.candidate_ids[scores.best]
    is_right = given == answers
    has_safe = (scores.safe_class != NO_CLASS) & ~fitted.is_unknown(scores)
    on_line = {
        answer: collection.graph.ancestors(answer) | {answer}
        for answer in np.unique(answers).tolist()
    }
    safe_right = np.array(
        [
            safe in on_line[answer]
            for safe, answer in zip(scores.safe_class.tolist(), answers.tolist(), strict=True)
        ]
    )

    def score(chosen: NDArray[np.bool_]) -> Figures:
        is_safe = has_safe & chosen
        return {
            **accuracies_of(answers[chosen], given[chosen]),
            "calibration_error": calibration_error(scores.best_score[chosen], is_right[chosen]),
            "coverage": float(has_safe[chosen].mean()),
            "safe_accuracy": float(safe_right[is_safe].mean()) if is_safe.any() else float("nan"),
            **gaps(scores.best_score[chosen], is_right[chosen]),
        }

    return by_part(collection, rows, score)
