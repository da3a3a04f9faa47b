"""ONNX files as backbones: one is inspected, tried on real images, and taken into the library.

An untrusted file is opened and run in a child process, held to limits of time and memory: a file that crashes,
never ends, or wants a hundred gigabytes is an error with its reason, and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.backbones.library import BackboneLibrary, check_name
from engine.backbones.messages import ExamineFile, RunFile
from engine.backbones.model_files import ModelFiles, own_propagation
from engine.backbones.onnx_files.facts import OnnxFacts, Trial
from engine.backbones.preprocessing import UNIT_TEMPERATURE, Preprocessing, preprocessing_from
from engine.backbones.trial import trial_images
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.model_card import BackboneCard, card_path, read_card
from engine.worker.limits import Limits, ask_child, usual_limits

STEPS: Final = ("checking the file", "trying it on images", "saving it")


@dataclass(frozen=True)
class Added:
    """A backbone in the library, with its facts and trial."""

    files: ModelFiles
    facts: OnnxFacts
    trial: Trial


def inspect(path: Path, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> OnnxFacts:
    """Examine a file in a child process held to limits.

    Raises:
        ModelError: it cannot be a backbone, and why.
        Cancelled: stopped by the person.
    """
    limits = limits or usual_limits()
    return ask_child(ExamineFile(path.absolute(), limits), limits, cancel=cancel)


def try_out(
    path: Path,
    card: BackboneCard,
    images: Sequence[Path],
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Trial:
    """Run a backbone in a child on at least two images: finite, of the right width, distinct, repeatable.

    Raises:
        ModelError: it does not do what a backbone must, and why.
        Cancelled: stopped by the person.
    """
    limits = limits or usual_limits().for_trial
    pictures = tuple(image.absolute() for image in images)
    return ask_child(RunFile(path.absolute(), limits, card, pictures), limits, cancel=cancel)


def add_file(
    path: Path,
    *,
    name: str = "",
    chosen: Mapping[str, Any] | None = None,
    images: Sequence[Path] = (),
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Added:
    """Inspect a file, try it on real images, and take it into the user's library.

    Args:
        name: in the library; by default that of its card or file.
        images: to try it on; photos of the sample are added where these are few.

    Raises:
        ModelError: it cannot be a backbone, and why.
        InputError: the name or the preprocessing cannot be used.
        StorageError: it cannot be kept.
        Cancelled: stopped by the person; nothing is kept.
    """
    chosen, tell = chosen or {}, step_teller(STEPS, on_progress, cancel)
    if name:
        check_name(name)
    tell(0)
    facts = inspect(path, cancel=cancel)
    card = card_for(path, facts, chosen_preprocessing(facts, chosen), name=name)
    check_name(card.name)
    tell(1)
    trial = try_out(path, card, trial_images(images), cancel=cancel)
    tell(2)
    propagation = own_propagation(path)
    files = BackboneLibrary().add(
        path, _with_figures(card, trial), propagation=propagation if propagation.is_file() else None
    )
    tell(3)
    return Added(files, facts.with_chosen(chosen), trial)


def chosen_preprocessing(facts: OnnxFacts, chosen: Mapping[str, Any]) -> Preprocessing:
    """Preprocessing with the fields that a person chose, and for the rest what the file declares or is guessed.

    Raises:
        InputError: a field is unknown or out of range.
        ModelError: the file takes no images of this side, or has no such output.
    """
    values = {**vars(facts.preprocessing), **chosen}
    if values["output"] != facts.preprocessing.output:
        outputs = {output.name: output for output in facts.outputs}
        output = outputs.get(values["output"])
        if output is None or output.refused:
            usable = ", ".join(each.name for each in facts.outputs if not each.refused)
            reason = f"“{values['output']}”" if output is None else f"{output.name}: {output.refused}"
            raise ModelError("the model has no such output", expected=usable, found=reason)
        values["pooling"] = chosen.get("pooling", output.pooling)
    preprocessing = preprocessing_from(values)
    side, only = preprocessing.input_side, facts.image_input.fixed_side
    if only not in {None, side}:
        what, expected = "the model takes images of one side only", "{side} pixels"
        raise ModelError(what, expected=expected, found=str(side), side=only)
    return preprocessing


def card_for(path: Path, facts: OnnxFacts, preprocessing: Preprocessing, *, name: str = "") -> BackboneCard:
    """The card of a backbone: the one beside the file with this preprocessing, or a new one."""
    width = next((each.width for each in facts.outputs if each.name == preprocessing.output), facts.width)
    producer = f", written by {facts.producer}" if facts.producer else ""
    card = preprocessing.card(
        name or facts.name,
        width=width,
        description=facts.description or f"An ONNX file of opset {facts.opset}{producer}.",
        command=f"protoleaf backbone add {path.name}",
    )
    if not card_path(path).is_file():
        return card
    stored = read_card(path)
    same = preprocessing == facts.preprocessing and stored.embedding_width == width
    return replace(stored, **vars(preprocessing), name=card.name) if same else card


def _with_figures(card: BackboneCard, trial: Trial) -> BackboneCard:
    figures = {
        "images_per_s_one_core": round(trial.images_per_s, 1),
        "trial_images": float(trial.images),
        "trial_memory_mb": round(trial.memory_bytes / 2**20, 1),
    }
    is_declared = card.unit_length or card.temperature != 1.0
    temperature = card.temperature if is_declared else max(UNIT_TEMPERATURE * trial.mean_length**2, 1e-6)
    return replace(card, figures={**card.figures, **figures}, temperature=temperature)
