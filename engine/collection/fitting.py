"""Fit the model and classify every image apart from the open project: on any thread, while the project goes on.

The project's thread says what to fit (`FitInput`, a snapshot), another one runs it, and the project's thread takes the
outcome over (decision 44).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.cached_basis import CachedBasis
from engine.collection.embeddings.live_basis import LiveBasis
from engine.collection.embeddings.snapshot import EmbeddedSnapshot
from engine.collection.models import ModelFiles
from engine.collection.project_settings import SETTING_NAME, STAGE_SETTING
from engine.collection.state import NO_CLASS
from engine.events import CancelToken
from engine.everyday.back_off import Policy
from engine.everyday.blocks import stopped_by
from engine.everyday.classification import Scores
from engine.everyday.model import EverydayModel, fit, prior_of
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import Setting
from engine.everyday.teaching import teach_first, uncertainty_of
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import AttributesChanged, ClassRenamed
from engine.project import Change


@final
class FitMemory:
    """What one fit leaves for the next one of the same backbone: loaded equations, whitening and neighbours.

    One fit at a time uses it.

    Args:
        model: the backbone.
        cached: where the basis of a large collection is kept between openings.
    """

    def __init__(self, model: ModelFiles, cached: CachedBasis) -> None:
        self.model = model
        self.basis = LiveBasis(cached)
        self._cached = cached
        self._propagation: PropagationSession | None = None

    def propagation(self) -> PropagationSession:
        """The exported equations, loaded when they are first needed."""
        if self._propagation is None:
            self._propagation = PropagationSession(self.model.propagation)
        return self._propagation

    def without_basis(self) -> "FitMemory":
        """The same for images of which some are others now: what was learned from those that were there is left out."""
        memory = FitMemory(self.model, self._cached)
        memory._propagation = self._propagation
        return memory


@dataclass(frozen=True)
class FitInput:
    """Everything a fit needs, as it was when it was asked for.

    Attributes:
        version: of the collection's labels, graph, rules and embeddings; later ones are higher.
        graph: a copy that nobody changes.
        images: with labels and embeddings.
        memory: what the fit before left.
        setting: what parents are.
        policies: bars and deepest classes by class id.
        with_stage: whether the collection stage is on.
        with_teaching: whether to find out which images to label first.
    """

    version: int
    graph: CategoryGraph
    images: EmbeddedSnapshot
    memory: FitMemory
    setting: Setting
    policies: Mapping[int, Policy]
    with_stage: bool
    with_teaching: bool = False


@dataclass(frozen=True)
class FitOutcome:
    """A fitted model and what it says.

    Attributes:
        given: what it was fitted to.
        fitted: the model.
        scores: of each row of `given.images`; meaningless for rows that had no embedding.
        teach_first: rows of the unlabelled images, those first whose labels would teach most; None where nobody asked,
            or there are too few images.
    """

    given: FitInput
    fitted: EverydayModel
    scores: Scores
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
        images, graph, memory = wanted.images, wanted.graph, wanted.memory
        shots = images.shots(graph)
        fitted = fit(
            graph, shots, memory.propagation(), prior_of(memory.model.card),
            setting=wanted.setting, policies=wanted.policies,
            basis=memory.basis.current(images, shots.image_ids) if wanted.with_stage else None,
            ignored=images.ignored(),
        )  # fmt: skip
        scores = Scores.empty(len(images.row_ids))
        if len(fitted.candidates):
            scores = fitted.classify(images.embeddings, images.squares)
        return FitOutcome(
            wanted, fitted, scores, _teach_first(wanted, fitted, scores) if wanted.with_teaching else None
        )


def _teach_first(wanted: FitInput, fitted: EverydayModel, scores: Scores) -> NDArray[np.int64] | None:
    images = wanted.images
    basis = wanted.memory.basis.current(images, images.shots(wanted.graph).image_ids)
    if basis is None:
        return None
    is_gone = np.ones(len(images.row_ids), dtype=bool)
    is_gone[images.rows] = False
    labelled = images.rows[images.labels != NO_CLASS]
    return teach_first(basis, uncertainty_of(fitted, scores, labelled, np.flatnonzero(is_gone)))
