"""Export the model: a folder that classifies images anywhere, without the program and without the project."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.backbones.onnx_structure import read_structure, write_inlined
from engine.collection.bundle.agreement import largest_difference
from engine.collection.bundle.card import ModelFacts, card_json, card_markdown
from engine.collection.bundle.classes_file import NAME, classes_text, exported_classes
from engine.collection.bundle.classifier_graph import classifier_model, model_bytes
from engine.collection.bundle.terms import licence_text
from engine.collection.classify import Classified, classify
from engine.collection.outputs.targets import check_folder
from engine.collection.project_settings import policies_of
from engine.config import CacheFolders, assets_folder
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, Progress, ignore_progress
from engine.everyday.back_off import bars_in_effect
from engine.everyday.classifier import Setting
from engine.model_card import write_card
from engine.new_file import ORDINARY_FILE, create_file, write_file
from engine.new_folder import Placing, new_folder, place_file
from engine.project import Project

BACKBONE: Final = "backbone.onnx"
CLASSIFIER: Final = "classifier.onnx"
RUNNER: Final = "run.py"
CARD: Final = "README.md"
CARD_FOR_PROGRAMS: Final = "card.json"
LICENCE: Final = "LICENCE.txt"
_STEPS: Final = 5  # fit, backbone, classifier, comparison, the rest


@dataclass(frozen=True)
class ExportedModel:
    """What was written."""

    folder: Path  # where
    classes: int  # to choose among
    files: tuple[str, ...]  # their names
    size_bytes: int  # of all files together
    difference: float  # the largest between the program's probabilities and the exported model's


def export_model(
    project: Project,
    caches: CacheFolders,
    out: Path,
    setting: Setting = Setting.PPN_PLUS,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ExportedModel:
    """Fit the model to a project and write it into a folder that appears whole, or not at all.

    What leaves is `classify_new` of what `classify` fits now; the two are compared before it leaves.

    Args:
        project: may be open for reading only.
        out: the folder; nothing may be there, or an empty folder.
        setting: PPN+, PPN or prototypes alone.
        on_progress: is told of the steps.
        cancel: is asked between them.

    Raises:
        InputError: something is there, or as `classify`.
        ModelError: the backbone is gone, cannot be made a part of one file, or the file would answer otherwise.
        StorageError: the folder or the disk refuses.
        Cancelled: asked to stop.
    """
    check_folder(Path(os.path.realpath(out)), project)
    step = _steps(on_progress, cancel or CancelToken())
    step("fitting the model")
    classified = classify(project, caches, setting)
    if not classified.model.backbone.is_file():
        raise InputError("the project's backbone is not there", found=str(classified.model.backbone))
    with new_folder(out) as draft:
        facts = _write(draft, project, caches, classified, step)
        files = tuple(sorted(path.name for path in draft.iterdir()))
        size = sum((draft / name).stat().st_size for name in files)
    on_progress(Progress(_STEPS, _STEPS, unit="steps"))
    return ExportedModel(out, len(classified.fitted.candidate_ids), files, size, facts.difference)


def _steps(on_progress: OnProgress, cancel: CancelToken) -> Callable[[str], None]:
    done = 0

    def step(note: str) -> None:
        nonlocal done
        cancel.raise_if_cancelled()
        on_progress(Progress(done, _STEPS, unit="steps", note=note))
        done += 1

    return step


def _write(
    draft: Path, project: Project, caches: CacheFolders, classified: Classified, step: Callable[[str], None]
) -> ModelFacts:
    model, fitted, graph = classified.model, classified.fitted, project.classes.graph
    classes = exported_classes(
        fitted, graph, model.card,
        name=model.name, has_views=classified.uses_views, unknown_distance=classified.unknown_distance,
    )  # fmt: skip
    views = classes.framing.views
    step("copying the backbone")
    _place_backbone(model.backbone, draft / BACKBONE)
    write_card(draft / BACKBONE, model.card)
    step("writing the classifier")
    content = model_bytes(classifier_model(draft / BACKBONE, model.card, fitted, views=views, name=model.name))
    _put(draft / CLASSIFIER, content)
    step("comparing its answers with the program's")
    difference = largest_difference(draft, model.card, classified, views)
    step("writing the card")
    classes = replace(classes, sha256=hashlib.sha256(content).hexdigest())
    policies = policies_of(project)
    _put(draft / NAME, classes_text(classes, policies, bars_in_effect(graph, policies, list(graph.classes()))))
    place_file(assets_folder() / "bundle" / RUNNER, draft / RUNNER, Placing.COPY)
    _put(draft / LICENCE, licence_text(project, caches, model))
    facts = ModelFacts(
        classified, classes, difference, {path.name: path.stat().st_size for path in sorted(draft.iterdir())}
    )
    _put(draft / CARD_FOR_PROGRAMS, card_json(facts))
    _put(draft / CARD, card_markdown(facts))
    return facts


def _place_backbone(source: Path, target: Path) -> None:
    """Copy the network as one file."""
    if not read_structure(source).external:
        place_file(source, target, Placing.COPY)
        return
    with create_file(target, mode=ORDINARY_FILE) as file:
        write_inlined(source, file)


def _put(path: Path, content: bytes | str) -> None:
    write_file(path, content, mode=ORDINARY_FILE)
