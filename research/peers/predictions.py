"""Predictions of the engine and of the peers on one draw, in the same form."""

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import ProtoleafError
from engine.events import CancelToken
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.graph.category_graph import CategoryGraph
from engine.worker.client import children_without_ctrl_c
from research.peers import run_peer
from research.transfer.collection import TransferCollection
from research.transfer.draws import ShotDraw
from research.transfer.embedded import EmbeddedCollection

SCRIPT = Path(run_peer.__file__)
POLL_S = 0.2
"""Interval of checks of a running peer for cancellation or its time limit."""


class PeerError(ProtoleafError):
    """A peer did not classify a draw; others go on."""


@dataclass(frozen=True)
class PeerPredictions:
    """Predictions of a method for the unlabelled images of a draw.

    Attributes:
        class_ids: (u,) int64 leaves.
        scores: (u,) in [0, 1], their probabilities.
        seconds: of the processor for fitting and predicting, all threads together.
    """

    class_ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    seconds: float


def predict_ours(
    embedded: EmbeddedCollection, drawn: ShotDraw, *, with_collection: bool, with_graph: bool
) -> PeerPredictions:
    """Fit the everyday model to the shots and classify the unlabelled images.

    Args:
        embedded: the collection.
        drawn: its shots; it has no coarse labels.
        with_collection: whether the collection stage learns from unlabelled images.
        with_graph: whether the model uses the category graph; else all leaves are roots.
    """
    collection, model = embedded.collection, embedded.model
    leaves = collection.leaf_ids
    graph, ids = (collection.graph, leaves) if with_graph else _flat(leaves)
    positions = np.searchsorted(leaves, collection.class_ids[drawn.shots])
    shots, session = (
        embedded.shots(drawn.shots, ids[positions]),
        PropagationSession(model.propagation),
    )
    rows, prior = drawn.rows, model.card
    start = time.process_time()
    basis = None
    if with_collection:
        labelled = np.searchsorted(rows, drawn.shots)
        basis = collection_basis(rows, embedded.embeddings[rows], labelled=labelled)
    fitted = fit(graph, shots, session, prior, basis=basis)
    scores = fitted.classify(
        embedded.embeddings[drawn.unlabelled], np.searchsorted(rows, drawn.unlabelled)
    )
    given = fitted.candidate_ids[scores.best]
    seconds = time.process_time() - start
    return PeerPredictions(
        leaves[np.searchsorted(ids, given)], scores.best_score.astype(np.float64), seconds
    )


def _flat(leaves: NDArray[np.int64]) -> tuple[CategoryGraph, NDArray[np.int64]]:
    """A graph of the leaves alone, and their ids in it, ascending."""
    graph = CategoryGraph()
    return graph, np.array([graph.add_class(str(leaf)) for leaf in leaves.tolist()], dtype=np.int64)


def export_draw(embedded: EmbeddedCollection, drawn: ShotDraw, path: Path) -> None:
    """Write a draw in the format of `run_peer.py`."""
    collection = embedded.collection
    classes = np.searchsorted(collection.leaf_ids, collection.class_ids[drawn.shots])
    np.savez(
        path,
        support=embedded.shots(drawn.shots, classes).embeddings,
        classes=classes,
        queries=embedded.floats[drawn.unlabelled],
        paths=paths_of(collection),
    )


def paths_of(collection: TransferCollection) -> NDArray[np.int64]:
    """Class ids (c, l) from a root to each leaf by its first path; short paths repeat the leaf."""
    paths = [collection.graph.paths(leaf)[0] for leaf in collection.leaf_ids.tolist()]
    levels = max(map(len, paths))
    return np.array([path + path[-1:] * (levels - len(path)) for path in paths], dtype=np.int64)


def predict_by_peer(
    python: Path,
    method: str,
    draws: Sequence[Path],
    leaves: NDArray[np.int64],
    *,
    limit_s: float,
    cancel: CancelToken,
) -> list[PeerPredictions]:
    """Let a peer classify exported draws in a process of its own.

    Args:
        python: of the peers' environment.
        method: name in `run_peer.PEERS`.
        draws: the exported draws; the predictions are written next to them.
        leaves: (c,) class ids of the positions that it predicts.
        limit_s: seconds for a draw; the process is ended after as many for all of them.
        cancel: ends the process.

    Raises:
        PeerError: the peer failed or took too long.
        Cancelled: `cancel` was set.
    """
    _run([str(python), "-I", str(SCRIPT), method, *map(str, draws)], limit_s * len(draws), cancel)
    found = []
    for draw in draws:
        with np.load(draw.with_name(f"{draw.stem}-{method}.npz")) as arrays:
            found.append(
                PeerPredictions(
                    leaves[arrays["classes"]], arrays["scores"], float(arrays["seconds"])
                )
            )
    return found


def _run(command: Sequence[str], limit_s: float, cancel: CancelToken) -> None:
    with children_without_ctrl_c():
        child = subprocess.Popen(  # noqa: S603 (our own script)
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    deadline = time.monotonic() + limit_s
    with child:
        while True:
            try:
                errors = child.communicate(timeout=POLL_S)[1]
                break
            except subprocess.TimeoutExpired:
                if cancel.is_cancelled or time.monotonic() > deadline:
                    child.kill()
    cancel.raise_if_cancelled()
    if child.returncode != 0:
        if time.monotonic() > deadline:
            raise PeerError(f"took longer than {limit_s:g} s")
        lines = errors.strip().splitlines()
        raise PeerError(lines[-1] if lines else f"exit status {child.returncode}")
