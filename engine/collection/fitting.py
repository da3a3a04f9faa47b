"""Fit the model and classify every image apart from the open project: on any thread, while the project goes on.

The project's thread says what to fit (`FitInput`, a snapshot), another one runs it, and the project's thread takes the
outcome over (decision 44).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.project_settings import SETTING_NAME, STAGE_SETTING
from engine.events import CancelToken
from engine.everyday.blocks import stopped_by
from engine.everyday.classifier import Classifier, FitSnapshot, FittedClassifier
from engine.everyday.scores import Scores
from engine.graph.edits import AttributesChanged, ClassRenamed
from engine.project import Change


@dataclass(frozen=True)
class FitInput:
    """What a fit needs."""

    version: int  # of the collection's labels, graph, rules and embeddings; later ones are higher
    snapshot: FitSnapshot  # the collection as it was when the fit was asked for
    classifier: Classifier  # that learns from it
    with_teaching: bool = False  # whether to find out which images to label first


@dataclass(frozen=True)
class FitOutcome:
    """A fitted model and what it says."""

    given: FitInput  # what it was fitted to
    fitted: FittedClassifier  # the model
    scores: Scores  # of each row of `given.snapshot.images`; meaningless for rows that had no embedding
    # rows of the unlabelled images, those first whose labels would teach most; None where nobody asked, or there are
    # too few images
    teach_first: NDArray[np.int64] | None = None


def concerns_every_fit(change: Change) -> bool:
    """Whether a model that was fitted before a change would be another one now, whatever is embedded.

    Names and most attributes teach nothing. Labels and new images count where they have embeddings: that is for
    others to know.
    """
    if not all(isinstance(edit, ClassRenamed | AttributesChanged) for edit in change.graph_edits):
        return True
    is_other_setting = not {SETTING_NAME, STAGE_SETTING}.isdisjoint(change.settings)
    return bool(change.policies or change.images_removed) or is_other_setting


def run_fit(wanted: FitInput, cancel: CancelToken | None = None) -> FitOutcome:
    """Fit the model and classify every image; on any thread, one at a time.

    Raises:
        Cancelled: asked to stop; what was learned until then is kept for the next fit, or lost.
        ModelError: the backbone's equations cannot be loaded.
    """
    with stopped_by(cancel):
        snapshot, classifier = wanted.snapshot, wanted.classifier
        fitted = classifier.fit(snapshot)
        scores = Scores.empty(len(snapshot.images.row_ids))
        if len(fitted.candidate_ids):
            scores = fitted.classify(snapshot.images.embeddings)
        first = classifier.teach_first(snapshot, fitted, scores) if wanted.with_teaching else None
        return FitOutcome(wanted, fitted, scores, first)
