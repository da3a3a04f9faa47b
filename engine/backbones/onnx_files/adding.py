"""ONNX files as backbones: one is inspected, tried on real images, and taken into the library.

An untrusted file is opened and run in a child process, held to limits of time and memory: a file that crashes,
never ends, or wants a hundred gigabytes is an error with its reason, and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.backbones.library import BackboneLibrary, check_name
from engine.backbones.messages import ExamineFile, RunFile
from engine.backbones.model_files import ModelFiles, own_propagation
from engine.backbones.onnx_files.facts import OnnxFacts, Trial
from engine.backbones.onnx_files.held_child import ask_child
from engine.backbones.onnx_files.trial_images import trial_images
from engine.backbones.preprocessing import UNIT_TEMPERATURE, Preprocessing, preprocessing_from
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, Progress, ignore_progress
from engine.model_card import BackboneCard, card_path, read_card
from engine.worker.limits import Limits, usual_limits

STEPS: Final = ("checking the file", "trying it on images", "saving it")


@dataclass(frozen=True)
class Added:
    """A backbone that was taken in, and what was found out about it."""

    files: ModelFiles
    facts: OnnxFacts
    trial: Trial


def inspect(path: Path, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> OnnxFacts:
    """Find out whether a file can be a backbone, and what can be known or guessed about it.

    Args:
        path: any file.
        limits: what the inspection may take; by default what fits this computer.
        cancel: stops.

    Raises:
        ModelError: it cannot be a backbone, and why.
        Cancelled: asked to stop.
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
    """Run a backbone on real images: finite, of the right width, different for different images, and always the same.

    Args:
        path: the ONNX file.
        card: as it would be used.
        images: picture files, at least two that can be read.
        limits: what it may take; by default what fits this computer.
        cancel: stops.

    Raises:
        ModelError: it does not do what a backbone must, and why.
        Cancelled: asked to stop.
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
    library: BackboneLibrary | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Added:
    """Inspect a file, try it on real images, and take it into the library.

    Args:
        path: ONNX file.
        name: in the library; by default that of its card or file.
        chosen: fields of `Preprocessing` by name that the person chose; the others are told or guessed.
        images: to try it on; drawn ones are added where these are few.
        library: by default the user's.
        on_progress: told after each step.
        cancel: stops between steps, and while the file is inspected or tried.

    Raises:
        ModelError: it cannot be a backbone, and why.
        InputError: the name or the preprocessing cannot be used.
        StorageError: it cannot be kept.
        Cancelled: asked to stop; nothing is kept.
    """
    tell = _teller(on_progress)
    if name:
        check_name(name)
    tell(0)
    facts = inspect(path, cancel=cancel)
    card = card_for(path, facts, chosen_preprocessing(facts, chosen or {}), name=name)
    check_name(card.name)
    tell(1)
    with trial_images(images) as pictures:
        trial = try_out(path, card, pictures, cancel=cancel)
    (cancel or CancelToken()).raise_if_cancelled()
    tell(2)
    card = _with_figures(card, trial)
    propagation = own_propagation(path)
    files = (library or BackboneLibrary()).add(path, card, propagation=propagation if propagation.is_file() else None)
    tell(3)
    return Added(files, facts.with_chosen(chosen or {}), trial)


def chosen_preprocessing(facts: OnnxFacts, chosen: Mapping[str, Any]) -> Preprocessing:
    """Preprocessing as the person wants it: what was chosen, and else what the file says or is guessed.

    Args:
        facts: of the file.
        chosen: fields of `Preprocessing` by name.

    Raises:
        InputError: a field is unknown or out of range.
        ModelError: the file takes no images of this side, or has no such output.
    """
    values = {**facts.preprocessing.as_dict(), **chosen}
    if "output" in chosen and chosen["output"] != facts.preprocessing.output:
        output = next((output for output in facts.outputs if output.name == chosen["output"]), None)
        if output is None or output.refused:
            usable = ", ".join(each.name for each in facts.outputs if not each.refused)
            reason = f"“{chosen['output']}”" if output is None else f"{output.name}: {output.refused}"
            raise ModelError("the model has no such output", expected=usable, found=reason)
        if "pooling" not in chosen:
            values["pooling"] = output.pooling
    preprocessing = preprocessing_from(values)
    if facts.fixed_side not in {None, preprocessing.input_side}:
        raise ModelError(
            "the model takes images of one side only",
            expected=f"{facts.fixed_side} pixels",
            found=f"{preprocessing.input_side}",
        )
    return preprocessing


def card_for(path: Path, facts: OnnxFacts, preprocessing: Preprocessing, *, name: str = "") -> BackboneCard:
    """The card of a backbone: the one beside the file with this preprocessing, or a new one.

    Args:
        path: the ONNX file.
        facts: of the file.
        preprocessing: to write on it.
        name: by default the one that the facts have.
    """
    width = next((each.width for each in facts.outputs if each.name == preprocessing.output), facts.width)
    command = f"protoleaf backbone add {path.name}"
    card = preprocessing.card(name or facts.name, width=width, description=_description(facts), command=command)
    if not card_path(path).is_file():
        return card
    told = read_card(path)
    same = preprocessing == facts.preprocessing and told.embedding_width == width
    return replace(told, **vars(preprocessing), name=card.name, embedding_width=width) if same else card


def _description(facts: OnnxFacts) -> str:
    return facts.description or f"An ONNX file of opset {facts.opset}" + (
        f", written by {facts.producer}." if facts.producer else "."
    )


def _with_figures(card: BackboneCard, trial: Trial) -> BackboneCard:
    figures = {
        **card.figures,
        "images_per_s_one_core": round(trial.images_per_s, 1),
        "trial_images": float(trial.images),
        "trial_memory_mb": round(trial.memory_bytes / 2**20, 1),
    }
    if card.unit_length or card.temperature != 1.0:
        return replace(card, figures=figures)
    return replace(card, figures=figures, temperature=max(UNIT_TEMPERATURE * trial.mean_length**2, 1e-6))


def _teller(on_progress: OnProgress) -> Callable[[int], None]:
    def tell(done: int) -> None:
        note = STEPS[done] if done < len(STEPS) else ""
        on_progress(Progress(done, len(STEPS), unit="steps", note=note))

    return tell
