"""Distil the fast backbone from the accurate one.

    python -m research.distillation.command LEAFNET.onnx OUT TINY_IMAGENET/train:120
        GROCERY/train:0:3

Teacher and student see the same views of photos, without labels, the student at a smaller side. Two
losses: similarities among photos should match those of the teacher, and the teacher's embeddings
should be linearly predictable from the student's. The graph of the file is trained itself, so size
and speed stay; its first two stages are frozen. OUT gets the file with its card and its 8-bit
companion.

On one core the teacher embeds some 110 photos a second, and the student learns from 200 at 64 px
and from 90 at 96.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from engine.backbones.model_files import ACCURATE
from engine.collection.models import find_model
from engine.model_card import read_card, write_card
from engine.new_file import ORDINARY_FILE, write_file
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.quantization import write_eight_bit
from engine.training.thawed.network import thawed, with_weights
from research.distillation.student import FROZEN_SHARE, DistillationSettings, Losses, distil
from research.distillation.views import PhotoSource, drawn_photos, views

BATCH = 32
"""Views per batch of the teacher. Chosen: little memory."""
QUANTISED = 250
"""Views that calibrate the ranges of the companion."""


def seen_by_both(
    paths: Sequence[Path], teacher: BackboneSession, side: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Views of photos for the student, (n, side, side, 3), and the teacher's embeddings, (n, D)."""
    generator = np.random.default_rng(seed)
    small = np.empty((len(paths), side, side, 3), dtype=np.uint8)
    targets = np.empty((len(paths), teacher.card.embedding_width), dtype=np.float32)
    sides = (teacher.card.input_side, side)
    for start in range(0, len(paths), BATCH):
        seen = list(views(paths[start : start + BATCH], sides, generator))
        place = slice(start, start + len(seen))
        small[place] = [ours for _, ours in seen]
        targets[place] = teacher.embed(np.stack([theirs for theirs, _ in seen]))
    return small, targets


def main(
    start: Annotated[Path, typer.Argument(help="The file to start from, with its card.")],
    out: Annotated[Path, typer.Argument(help="Folder for the new file.")],
    sources: Annotated[
        list[str], typer.Argument(help="FOLDER[:PHOTOS[:VIEWS]], photos of each class folder.")
    ],
    iterations: Annotated[int, typer.Option(min=1)] = DistillationSettings.iterations,
    teacher: Annotated[str, typer.Option(help="Backbone that is learned from.")] = ACCURATE,
) -> None:
    """Distil the backbone START from the accurate one; write it to OUT."""
    out.mkdir(parents=True, exist_ok=True)
    settings, card, knows = (
        DistillationSettings(iterations=iterations),
        read_card(start),
        find_model(teacher),
    )
    paths = drawn_photos(
        [PhotoSource.of(text) for text in sources], np.random.default_rng(settings.seed)
    )
    session = BackboneSession(knows.backbone, knows.card, CPU_CHOICE, torch.get_num_threads())
    pixels, targets = seen_by_both(paths, session, card.input_side, settings.seed)
    network = thawed(start, frozen_share=FROZEN_SHARE)
    distil(network, pixels, targets, settings, _say)
    model = out / start.name
    write_file(model, with_weights(start, network), mode=ORDINARY_FILE)
    card = replace(
        card,
        training_data=(
            f"{card.training_data} Distilled from {teacher} on {len(paths)} views of photos."
        ),
    )
    write_card(model, card)
    report = write_eight_bit(model, card, pixels[:QUANTISED])
    typer.echo(f"{model}: {len(paths)} views; companion: mean cosine {report.mean_cosine:.4f}")


def _say(losses: Losses) -> None:
    typer.echo(json.dumps({name: round(value, 4) for name, value in asdict(losses).items()}))


if __name__ == "__main__":
    typer.run(main)
