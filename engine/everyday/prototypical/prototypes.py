"""Prototypes of every class that can have one, by running the exported equations (Eq. 3 to 6)."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.errors import ModelError, found_at
from engine.everyday.blocks import filled_in_blocks
from engine.everyday.classifier import Setting
from engine.everyday.shots import Membership, Shots, class_means, membership, reached_classes
from engine.graph.arrays import edge_index
from engine.graph.category_graph import CategoryGraph
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.texts import Message

INPUT_NAMES = ("embeddings", "image_positions", "class_positions", "edge_index", "lambda_")
_REMEDY = "choose a propagation file that this program exported"
NEIGHBOURS = 3  # K of the PPN setting (paper, section "Meta-Test")
NEIGHBOUR_ROWS = 256
"""Classes whose neighbours are searched at a time. Chosen: distances to 10,000 others take 10
MB."""


@dataclass(frozen=True)
class PropagationResult:
    """Prototypes of C classes with embeddings of width d over E edges."""

    initial: Floats  # (C, d) float32, `P0`; zeros where there is none
    has_initial: Flags  # (C,) bool
    weights: Floats  # (E,) float32, attention weight of each edge
    propagated: Floats  # (C, d) float32, `P+`; zeros where there is none
    final: Floats  # (C, d) float32, `P`; zeros where there is none
    has_final: Flags  # (C,) bool; False for a class that neither images nor propagation reach


OUTPUT_NAMES = tuple(field.name for field in fields(PropagationResult))


@final
class PropagationSession:
    """A loaded propagation file; runs on the CPU, from any thread.

    Attributes:
        embedding_width: d, the width of embeddings that the file was trained for; None for a file
            that takes any.
        steps: propagation steps.
        normalisation: "softmax" or "cosine".

    Raises:
        ModelError: the file is missing, damaged, or not a propagation file.
    """

    def __init__(self, model: Path) -> None:
        self.model = model
        self._session = _load(model)
        _check_names(model, self._session)
        width = self._session.get_inputs()[0].shape[1]
        self.embedding_width: int | None = width if isinstance(width, int) else None
        notes: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self.steps = int(notes.get("steps", "1"))
        self.normalisation = notes.get("normalisation", "softmax")

    def run(
        self,
        embeddings: Floats,
        image_positions: Integers,
        class_positions: Integers,
        edge_index: Integers,
        lambda_: Floats,
    ) -> PropagationResult:
        """Make initial and final prototypes. Needs about 12 · m · d bytes while it runs.

        Args:
            embeddings: (n, d) float32, one row for each image.
            image_positions: (m,) int64 in [0, n), the image of each (image, class) pair.
            class_positions: (m,) int64 in [0, C), the class of each pair.
            edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child.
            lambda_: (C,) float32 in [0, 1], weight of `P0` in Eq. 6. n, m and E may be 0.

        Raises:
            ModelError: the embeddings have another width than the file was made for.
            ValueError: a shape or position does not fit the others.
        """
        self._check_width(embeddings)
        if len(image_positions) != len(class_positions):
            raise ValueError(
                f"{len(image_positions)} images but {len(class_positions)} classes in the pairs"
            )
        if edge_index.ndim != 2 or len(edge_index) != 2:  # noqa: PLR2004 (parent and child)
            raise ValueError(f"edge_index must be (2, E), not {edge_index.shape}")
        _check_positions("image_positions", image_positions, len(embeddings))
        _check_positions("class_positions", class_positions, len(lambda_))
        _check_positions("edge_index", edge_index, len(lambda_))
        values = (embeddings, image_positions, class_positions, edge_index, lambda_)
        kinds = (np.float32, np.int64, np.int64, np.int64, np.float32)
        feeds = {
            name: np.ascontiguousarray(value, dtype=kind)
            for name, value, kind in zip(INPUT_NAMES, values, kinds, strict=True)
        }
        return PropagationResult(*self._session.run(list(OUTPUT_NAMES), feeds))

    def _check_width(self, embeddings: Floats) -> None:
        width = self.embedding_width
        is_table = embeddings.ndim == 2  # noqa: PLR2004
        if not is_table or embeddings.shape[1] != (width or embeddings.shape[1]):
            raise ModelError(
                "the propagation file does not fit the backbone",
                expected="embeddings of width {width}",
                found="shape {shape}",
                remedy="choose a propagation file that was trained for this backbone",
                width=width or Message("any"),
                shape=embeddings.shape,
            )


def _load(model: Path) -> Any:
    onnxruntime = load_onnxruntime()
    if not model.is_file():
        raise ModelError(
            "the propagation file is missing", expected=str(model), found="nothing", remedy=_REMEDY
        )
    options = onnxruntime.SessionOptions()
    # Runs are short and rare; memory goes back to the system after each
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry(
        "session.intra_op.allow_spinning", "0"
    )  # No busy waiting while the window works
    options.log_severity_level = 4  # failures are raised; the log would repeat them
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except (
        Exception
    ) as error:  # ONNX Runtime raises many kinds without a common base below Exception
        raise ModelError(
            "the propagation file cannot be loaded", found=found_at(model, error), remedy=_REMEDY
        ) from error


def _check_names(model: Path, session: Any) -> None:
    inputs = tuple(value.name for value in session.get_inputs())
    outputs = tuple(value.name for value in session.get_outputs())
    if (inputs, outputs) != (INPUT_NAMES, OUTPUT_NAMES):
        raise ModelError(
            "{model} is not a propagation file",
            expected=f"{', '.join(INPUT_NAMES)} -> {', '.join(OUTPUT_NAMES)}",
            found=f"{', '.join(inputs)} -> {', '.join(outputs)}",
            remedy=_REMEDY,
            model=model.name,
        )


def _check_positions(name: str, positions: Integers, count: int) -> None:
    # ONNX would take a negative position as counted from the end and answer without a word.
    if positions.size and (positions.min() < 0 or positions.max() >= count):
        raise ValueError(
            f"{name} must lie in [0, {count}), found {positions.min()} to {positions.max()}"
        )


@dataclass(frozen=True)
class PrototypeTable:
    """Prototypes of C classes of width d, and what they were made of."""

    class_ids: Integers  # (C,) int64
    membership: Membership  # which shot makes up which initial prototype
    edges: Integers  # (2, E) int64, parent and child positions
    initial: Floats  # (C, d) float32, P0 (Eq. 3); zeros where there is none.
    has_initial: Flags  # (C,) bool
    edge_weights: Floats  # (E,) float32, attention (Eq. 5).
    final: Floats  # (C, d) float32, P (Eq. 6).
    has_prototype: Flags  # (C,) bool, own or propagated
    # (C,) float32, share of the initial prototype (Eq. 6), 0 for zero-shot classes.
    lambda_: Floats

    @property
    def is_zero_shot(self) -> Flags:
        """(C,) bool: only what ancestors propagate."""
        return self.has_prototype & ~self.has_initial


@dataclass(frozen=True)
class Support:
    """Everything prototypes are made of, before lambda is known."""

    class_ids: Integers
    membership: Membership
    edges: Integers
    own_counts: Integers  # (C,) images in each initial prototype


def support_of(graph: CategoryGraph, shots: Shots, setting: Setting) -> Support:
    """Collect the classes, memberships and edges of a setting.

    PPN+ takes the graph's edges. PPN pretends that a leaf's place is not known: its parents are the
    classes with images of their own whose initial prototypes are nearest. Prototypes alone have no
    edges.
    """
    if setting is Setting.PPN_PLUS:
        class_ids = reached_classes(graph, tuple(shots.counts()))
    else:
        class_ids = tuple(sorted(shots.counts()))
    members = membership(graph, class_ids, shots)
    counts = np.bincount(members.class_positions, minlength=len(class_ids)).astype(np.int64)
    if setting is Setting.PPN_PLUS:
        edges = edge_index(graph, class_ids)
        # One step of propagation starts at initial prototypes
        edges = edges[:, counts[edges[0]] > 0]
    elif setting is Setting.PPN:
        means = class_means(shots, members, len(class_ids))
        edges = nearest_parents(means)
    else:
        edges = np.zeros((2, 0), dtype=np.int64)
    return Support(np.array(class_ids, dtype=np.int64), members, edges, counts)


def nearest_parents(prototypes: Floats) -> Integers:
    """Edges (2, C * count) from the `NEIGHBOURS` nearest other prototypes to each class.

    Paper: "Meta-Test", second setting (PPN).
    """
    classes = len(prototypes)
    count = min(NEIGHBOURS, classes - 1)
    if count < 1:
        return np.zeros((2, 0), dtype=np.int64)
    squares = (prototypes**2).sum(axis=1)

    def parents_of(rows: slice) -> Integers:
        distances = squares - 2 * prototypes[rows] @ prototypes.T
        distances[np.arange(len(distances)), np.arange(classes)[rows]] = np.inf
        return np.argpartition(distances, count - 1, axis=1)[:, :count]

    parents = filled_in_blocks((classes, count), parents_of, NEIGHBOUR_ROWS, np.int64)
    return np.stack([parents.ravel(), np.repeat(np.arange(classes), count)]).astype(np.int64)


def prototype_table(
    session: PropagationSession, support: Support, shots: Shots, lambda_: Floats
) -> PrototypeTable:
    """Run Eq. 3 to 6 on the exported network, with lambda (C,) float32 in [0, 1]."""
    members = support.membership
    result = session.run(
        shots.embeddings, members.image_positions, members.class_positions, support.edges, lambda_
    )
    has_initial = support.own_counts > 0
    has_parents = np.bincount(support.edges[1], minlength=len(support.class_ids)) > 0
    effective = np.where(has_initial, np.where(has_parents, lambda_, 1), 0).astype(np.float32)
    return PrototypeTable(
        support.class_ids,
        support.membership,
        support.edges,
        result.initial,
        has_initial,
        result.weights,
        result.final,
        has_initial | has_parents,
        effective,
    )


def candidate_positions(graph: CategoryGraph, table: PrototypeTable) -> Integers:
    """Positions of the candidates: the deepest classes that have a prototype."""
    available = table.class_ids[table.has_prototype].tolist()
    covered = list(set[int]().union(*map(graph.ancestors, available)))
    return np.flatnonzero(table.has_prototype & ~np.isin(table.class_ids, covered))
