"""A backbone tried on real images, and an ONNX file taken into the library.

An untrusted file is opened and run in a child process, held to limits of time and memory: a file
that crashes, never ends, or wants a hundred gigabytes is an error with its reason.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.arrays import Floats, Pixels
from engine.backbones.library import BackboneLibrary, check_name
from engine.backbones.messages import ExamineFile, OnnxFacts, RunFile, Trial
from engine.backbones.model_files import ModelFiles, own_propagation
from engine.backbones.preprocessing import UNIT_TEMPERATURE, Preprocessing, preprocessing_from
from engine.config import assets_folder
from engine.embedding.read_photo import network_input
from engine.errors import ImageError, InputError, ModelError, StorageError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.images.decode import decode_square
from engine.images.read_file import read_file
from engine.model_card import BackboneCard, card_path, read_card
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.texts import Message, enumerated
from engine.worker.limits import Limits, call_child, peak_memory_bytes, usual_limits

STEPS = ("checking the file", "trying it on images", "saving it")
WANTED = 8
LEAST_IMAGES = 2
SAME = 1e-3
"""Median relative distance of two embeddings below which all images look the same to a network."""
BATCH_TOLERANCE = 1e-2
REPEAT_TOLERANCE = 1e-5
LARGEST_VALUE = float(np.finfo(np.float16).max)  # the cache keeps embeddings in sixteen bits
MEASURED_S = 0.5
_TINY = float(np.finfo(np.float32).tiny)


def project_images(project: Project) -> tuple[Path, ...]:
    """Some of a project's image files, spread over it."""
    paths = project.images.table().paths
    chosen = np.unique(np.linspace(0, max(0, len(paths) - 1), min(WANTED, len(paths))).astype(int))
    return tuple(project.path.parent / paths[position] for position in chosen)


def trial_images(own: Sequence[Path] = (), count: int = WANTED) -> tuple[Path, ...]:
    """Images for a trial: existing own files, completed by sample photos.

    Raises:
        StorageError: the sample's photos are missing.
    """
    found = tuple(path for path in own if path.is_file())[:count]
    return found + _sample_photos(count - len(found))


def _sample_photos(count: int) -> tuple[Path, ...]:
    """The first photos of the sample collection by name; adjacent ones show different classes."""
    folder = assets_folder() / "sample" / "photos"
    found = sorted(folder.glob("*.jpg"))[:count]
    if len(found) < count:
        raise StorageError(
            "photos of the sample collection are missing",
            expected="{count} files in {folder}",
            found=str(len(found)),
            remedy="install Protoleaf again",
            count=count,
            folder=folder,
        )
    return tuple(found)


def sample_squares(count: int, side: int, resize_share: float) -> Pixels:
    """Sample photos as a network's square input, (count, side, side, 3) uint8 RGB."""
    return np.stack(
        [decode_square(path.read_bytes(), side, resize_share) for path in _sample_photos(count)]
    )


def normalised(squares: Pixels, mean: Sequence[float], std: Sequence[float]) -> Floats:
    """Normalise squares (n, side, side, 3) to (n, 3, side, side) float32."""
    scaled = (squares / 255 - np.array(mean)) / np.array(std)
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2), dtype=np.float32)


def try_backbone(path: Path, card: BackboneCard, images: Sequence[Path]) -> Trial:
    """Embed at least two real images and check that the network works as a backbone.

    Raises:
        ModelError: it does not, and why.
        InputError: fewer than two of the images can be read.
    """
    session = BackboneSession(path, card, ProviderChoice(CPU_PROVIDER, "CPU"), threads=1)
    pixels = _pixels(images, card)
    embeddings = session.embed(pixels)
    length = float(np.linalg.norm(embeddings, axis=1).mean())
    largest = float(np.abs(embeddings).max())
    if largest > LARGEST_VALUE:
        raise ModelError(
            "the embeddings are too large to be stored",
            expected="values up to {limit:,.0f}",
            found=f"{largest:,.0f}",
            remedy="normalise them to unit length",
            limit=LARGEST_VALUE,
        )
    first, second = np.triu_indices(len(pixels), 1)
    distances = np.linalg.norm(embeddings[first] - embeddings[second], axis=1)
    spread = float(np.median(distances)) / max(length, _TINY)
    if spread < SAME:
        raise ModelError(
            "different images have the same embedding",
            expected="distances of at least {tolerance:g} of their length",
            found=f"{spread:.1g}",
            remedy="check mean, std and value range, and which output is taken",
            tolerance=SAME,
        )
    repeated = _relative(session.embed(pixels), embeddings)
    if not repeated <= REPEAT_TOLERANCE:
        raise ModelError(
            "the model gives a different embedding each time",
            expected="the same for the same image",
            found="a relative difference of {difference:.1g}",
            remedy="export it in evaluation mode, without dropout",
            difference=repeated,
        )
    return Trial(
        images=len(pixels),
        width=embeddings.shape[1],
        images_per_s=images_per_s(session, pixels),
        memory_bytes=peak_memory_bytes(),
        mean_length=length,
        spread=spread,
        batch_difference=_batch_difference(session, pixels),
    )


def _pixels(images: Sequence[Path], card: BackboneCard) -> Pixels:
    """Images as the pipeline prepares them, without unreadable ones and duplicates."""
    found: dict[bytes, Pixels] = {}
    for image in images:
        try:
            square = network_input(read_file(image), card)
        except ImageError:
            continue
        found[square.tobytes()] = square
    if len(found) < LEAST_IMAGES:
        raise InputError(
            "there are too few images to try the backbone on",
            expected="at least {least} different ones that can be read",
            found=str(len(found)),
            least=LEAST_IMAGES,
        )
    return np.stack(list(found.values()))


def _batch_difference(session: BackboneSession, pixels: Pixels) -> float:
    alone = np.concatenate([session.embed(pixels[:1]), session.embed(pixels[1:2])])
    difference = _relative(session.embed(pixels[:2]), alone)
    if not difference <= BATCH_TOLERANCE:
        raise ModelError(
            "an image's embedding depends on the other images of its batch",
            expected="a relative difference of at most {tolerance:g}",
            found=f"{difference:.2g}",
            remedy=(
                "export it in evaluation mode; networks with dynamic quantisation cannot be used"
            ),
            tolerance=BATCH_TOLERANCE,
        )
    return difference


def _relative(found: Floats, expected: Floats) -> float:
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), _TINY))


def images_per_s(session: BackboneSession, pixels: Pixels) -> float:
    """Images a second without reading files, measured for half a second."""
    done, started_s = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - started_s) < MEASURED_S or not done:
        done += len(session.embed(pixels))
    return done / passed_s


@dataclass(frozen=True)
class Added:
    """A backbone in the library, with its facts and trial."""

    files: ModelFiles
    facts: OnnxFacts
    trial: Trial


def inspect(
    path: Path, *, limits: Limits | None = None, cancel: CancelToken | None = None
) -> OnnxFacts:
    """Examine a file in a child process held to limits.

    Raises:
        ModelError: it cannot be a backbone, and why.
        Cancelled: stopped by the person.
    """
    limits = limits or usual_limits()
    return call_child(ExamineFile(path.absolute(), limits), limits, cancel=cancel)


def try_out(
    path: Path,
    card: BackboneCard,
    images: Sequence[Path],
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Trial:
    """Run a backbone in a child on two or more images: finite, of the right width, distinct.

    Raises:
        ModelError: it does not work as a backbone, and why.
        Cancelled: stopped by the person.
    """
    limits = limits or usual_limits().for_trial
    pictures = tuple(image.absolute() for image in images)
    return call_child(RunFile(path.absolute(), limits, card, pictures), limits, cancel=cancel)


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
        StorageError: it cannot be stored.
        Cancelled: stopped by the user; nothing is stored.
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
    """Complete a choice of preprocessing by what the file declares, or a guess.

    Raises:
        InputError: a field is unknown or out of range.
        ModelError: the file takes no images of this side, or has no such output.
    """
    values = {**vars(facts.preprocessing), **chosen}
    if values["output"] != facts.preprocessing.output:
        outputs = {output.name: output for output in facts.outputs}
        output = outputs.get(values["output"])
        if output is None or output.refused:
            raise ModelError(
                "the model has no such output",
                expected=enumerated(each.name for each in facts.outputs if not each.refused),
                found=(
                    f"“{values['output']}”"
                    if output is None
                    else Message(
                        "{name}: {reason}", {"name": output.name, "reason": output.refused}
                    )
                ),
            )
        values["pooling"] = chosen.get("pooling", output.pooling)
    preprocessing = preprocessing_from(values)
    side, only = preprocessing.input_side, facts.image_input.fixed_side
    if only not in {None, side}:
        raise ModelError(
            "the model takes images of one size only",
            expected="{side} pixels",
            found=str(side),
            side=only,
        )
    return preprocessing


def card_for(
    path: Path, facts: OnnxFacts, preprocessing: Preprocessing, *, name: str = ""
) -> BackboneCard:
    """The card of a backbone: the one next to the file with this preprocessing, or a new one."""
    width = next(
        (each.width for each in facts.outputs if each.name == preprocessing.output), facts.width
    )
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
    temperature = (
        card.temperature if is_declared else max(UNIT_TEMPERATURE * trial.mean_length**2, 1e-6)
    )
    return replace(card, figures={**card.figures, **figures}, temperature=temperature)
