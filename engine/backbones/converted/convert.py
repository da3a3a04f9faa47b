"""Make the files of a bundled backbone from its weights package: network, card, eight-bit companion."""

import json
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from engine.backbones.converted.facts import WeightsPackage
from engine.backbones.converted.graph import write_graph
from engine.backbones.converted.network import bundled_network
from engine.backbones.trial_images import normalised, sample_squares
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.full_disk import writing
from engine.model.backbone import UnitEmbedding
from engine.model_card import BackboneCard, read_card, write_card
from engine.new_file import ORDINARY_FILE, write_file
from engine.runtime.eight_bit import AGREEMENT
from engine.runtime.quantization import Ranges, write_eight_bit_within
from engine.training.export import HALF_WEIGHTS_TOLERANCE, Agreement, compare

STEPS: Final = (
    "reading the weights",
    "writing the network",
    "comparing it with the published one",
    "making the eight-bit version",
)
"""What a conversion does, one after the other."""
IN_FLOAT: Final = ("stem", "stages.0.", "stages.1.")
"""Layers that the eight-bit companion leaves in float32: large maps of few channels, where eight bits gain little time
and cost most of the agreement (decision 46)."""
_PHOTOS: Final = 4  # pictures that the file is compared on. Chosen: a second is enough to see a wrong file.


def convert(
    source: WeightsPackage,
    folder: Path,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Agreement:
    """Write a bundled backbone into a folder, with card and eight-bit companion, compared with its torch module.

    Returns:
        How closely the file agrees with the module, whose weights are not rounded to float16.

    Raises:
        ModelError: the package is not the promised one, or a file does not do what the network does.
        StorageError: the disk refuses.
        Cancelled: stopped by the person.
    """
    tell, path = step_teller(STEPS, on_progress, cancel), folder / source.model.name
    tell(0)
    network, card = bundled_network(source), read_card(source.model)
    _check_card(network, card)
    tell(1)
    with writing(path, "the backbone cannot be kept"):
        write_file(path, write_graph(network, card.input_side, card.name).SerializeToString(), mode=ORDINARY_FILE)
        write_card(path, card)
    tell(2)
    images = trial_squares(card)
    with torch.no_grad():
        inputs = torch.from_numpy(normalised(images, card.mean, card.std))
        agreement = compare(path, network, [(inputs,)], tolerance=HALF_WEIGHTS_TOLERANCE)
    tell(3)
    ranges = read_ranges(source.ranges)
    if ranges is not None:
        write_eight_bit_within(ranges, path, card, images, in_float=IN_FLOAT, fidelity=AGREEMENT)
    tell(len(STEPS))
    return agreement


def read_ranges(path: Path) -> Ranges | None:
    """Ranges of what flows between the layers by their names, or None where there is no file.

    Raises:
        ModelError: the file cannot be read.
    """
    if not path.is_file():
        return None
    try:
        read: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))
        return {name: (float(least), float(largest)) for name, (least, largest) in read.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError("the ranges of the backbone cannot be read", found=f"{path}: {error}") from error


def trial_squares(card: BackboneCard) -> NDArray[np.uint8]:
    """Photos of the sample collection at the card's side, (n, side, side, 3) uint8."""
    return sample_squares(_PHOTOS, card.input_side, card.resize_share)


def _check_card(network: UnitEmbedding, card: BackboneCard) -> None:
    width = network.backbone.embedding_width
    if width != card.embedding_width:
        raise ModelError(
            "the card is one of another backbone",
            expected="width {width}",
            found=str(card.embedding_width),
            width=width,
        )
