"""Export of a model: a folder that classifies images without the program and the project."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats
from engine.backbones.onnx_structure import read_structure, write_inlined
from engine.bundle.card import ModelFacts, card_json, card_markdown, licence_text
from engine.bundle.classes_file import NAME, ExportedClasses, Framing, classes_text
from engine.bundle.classifier_graph import CONVERTED_OPSET, IMAGES, classifier_model, model_bytes
from engine.collection.classify import Classified, classify_project
from engine.collection.fitting import policies_of
from engine.collection.outputs import check_folder
from engine.config import CacheFolders, assets_folder
from engine.embedding.views import VIEWS, mean_of_views, unit_length
from engine.errors import InputError, ModelError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.everyday.back_off import bars_in_effect
from engine.everyday.blocks import to_floats
from engine.everyday.classifier import DISTANCE, EMBEDDING, PROBABILITIES, Exports, Setting
from engine.model_card import BackboneCard, write_card
from engine.new_file import ORDINARY_FILE, create_file, write_file
from engine.new_folder import Placing, new_folder, place_file
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import trial_images
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import open_session, run_session

BACKBONE = "backbone.onnx"
CLASSIFIER = "classifier.onnx"
RUNNER = "run.py"
CARD = "README.md"
CARD_FOR_PROGRAMS = "card.json"
LICENCE = "LICENCE.txt"
_STEPS = (
    "fitting the model",
    "copying the backbone",
    "writing the classifier",
    "comparing its predictions with the program's",
    "writing the card",
)
TOLERANCE = 1e-3  # maximum difference of a probability or a squared distance
_EMBEDDINGS = 256  # embeddings of the collection on which outputs are compared
_TRIAL_IMAGES = 2  # pictures on which the whole graph is compared


@dataclass(frozen=True)
class ExportedModel:
    """An exported model."""

    folder: Path
    classes: int  # candidates
    files: tuple[str, ...]  # names
    size_bytes: int  # of all files
    difference: float  # largest difference of probabilities of the program and the export


def export_model(
    project: Project,
    caches: CacheFolders,
    out: Path,
    setting: Setting = Setting.PPN_PLUS,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ExportedModel:
    """Fit the model to a project and write it into a new or empty folder, atomically.

    The export computes `classify_new` of the model that `classify` fits now; the outputs of both
    are compared before the folder is published.

    Raises:
        InputError: the folder is not empty, or as `classify`.
        ModelError: the backbone is missing or cannot be merged into one file, or the outputs
            differ.
        StorageError: the folder cannot be written.
        Cancelled: `cancel` was set.
    """
    check_folder(Path(os.path.realpath(out)), project)
    begin = step_teller(_STEPS, on_progress, cancel)
    begin(0)
    classified = classify_project(project, caches, setting)
    if not classified.model.backbone.is_file():
        raise InputError(
            "the project's backbone is not there", found=str(classified.model.backbone)
        )
    with new_folder(out) as draft:
        facts = _write(draft, project, caches, classified, begin)
        files = tuple(sorted(path.name for path in draft.iterdir()))
        size = sum((draft / name).stat().st_size for name in files)
    begin(len(_STEPS))
    return ExportedModel(out, len(classified.fitted.candidate_ids), files, size, facts.difference)


def _write(
    draft: Path,
    project: Project,
    caches: CacheFolders,
    classified: Classified,
    begin: Callable[[int], None],
) -> ModelFacts:
    model, fitted, graph = classified.model, classified.fitted, project.classes.graph
    views = VIEWS if classified.uses_views else 1
    begin(1)
    place_backbone(model.backbone, draft / BACKBONE)
    write_card(draft / BACKBONE, model.card)
    begin(2)
    content = model_bytes(
        classifier_model(draft / BACKBONE, model.card, fitted, views=views, name=model.name)
    )
    _put(draft / CLASSIFIER, content)
    begin(3)
    difference = largest_difference(draft, model.card, classified, views)
    begin(4)
    classes = ExportedClasses(
        model.name,
        fitted.setting.value,
        graph,
        Framing(model.card.input_side, model.card.resize_share, views),
        fitted.back_off,
        classified.unknown_distance,
        hashlib.sha256(content).hexdigest(),
    )
    policies = policies_of(project)
    _put(
        draft / NAME,
        classes_text(classes, policies, bars_in_effect(graph, policies, list(graph.classes()))),
    )
    place_file(assets_folder() / "bundle" / RUNNER, draft / RUNNER, Placing.COPY)
    _put(draft / LICENCE, licence_text(project, caches, model))
    sizes = {path.name: path.stat().st_size for path in sorted(draft.iterdir())}
    facts = ModelFacts(classified, classes, difference, sizes)
    _put(draft / CARD_FOR_PROGRAMS, card_json(facts))
    _put(draft / CARD, card_markdown(facts))
    return facts


def place_backbone(source: Path, target: Path) -> None:
    """Copy a backbone, with its external data inlined; raises `OSError` or `ModelError`."""
    if not read_structure(source).external:
        place_file(source, target, Placing.COPY)
        return
    with create_file(target, mode=ORDINARY_FILE) as file:
        write_inlined(source, file)


def _put(path: Path, content: bytes | str) -> None:
    write_file(path, content, mode=ORDINARY_FILE)


def largest_difference(
    folder: Path, card: BackboneCard, classified: Classified, views: int
) -> float:
    """Largest difference of the outputs of the export and the program (decision 6).

    The fitted model is compared on embeddings of the collection, the whole graph on trial pictures.

    Raises:
        ModelError: it exceeds `TOLERANCE`.
    """
    found = max(_of_embeddings(classified), _of_pictures(folder, card, classified.fitted, views))
    if not found <= TOLERANCE:
        raise ModelError(
            "the exported model does not match the program's predictions, so it was not written",
            expected="probabilities that differ by {tolerance:g} at most",
            found=f"{found:.2g}",
            remedy="choose another backbone for the model that you export",
            tolerance=TOLERANCE,
        )
    return found


def _of_embeddings(classified: Classified) -> float:
    step = -(-len(classified.rows) // _EMBEDDINGS)
    embeddings = unit_length(to_floats(classified.embeddings[::step]))
    model = classified.fitted.export(CONVERTED_OPSET)
    session = load_onnxruntime().InferenceSession(
        model.SerializeToString(), providers=[CPU_CHOICE.provider]
    )
    return _difference(session, {EMBEDDING: embeddings}, classified.fitted, embeddings)


def _of_pictures(folder: Path, card: BackboneCard, fitted: Exports, views: int) -> float:
    pictures = trial_images(card.input_side, _TRIAL_IMAGES * views)
    embedded = BackboneSession(folder / "backbone.onnx", card, CPU_CHOICE, threads=1).embed(
        pictures
    )
    embeddings = mean_of_views(embedded) if views == VIEWS else unit_length(embedded)
    session = open_session(folder / "classifier.onnx")
    return _difference(
        session, {IMAGES: pictures.reshape(-1, views, *pictures.shape[1:])}, fitted, embeddings
    )


def _difference(
    session: Any, inputs: dict[str, NDArray[Any]], fitted: Exports, embeddings: Floats
) -> float:
    probabilities, distances = run_session(session, inputs, [PROBABILITIES, DISTANCE])
    expected = fitted.probabilities(embeddings)
    far = fitted.distance(fitted.classify_new(embeddings))
    return max(float(np.abs(probabilities - expected).max()), float(np.abs(distances - far).max()))
