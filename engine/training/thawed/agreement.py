"""Whether a network in torch gives what ONNX Runtime gives for its file: asked before a training and after it."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import Preparation, input_output, pooled
from engine.runtime.eight_bit import trial_images
from engine.runtime.sessions import open_session, run_session
from engine.training.batches import normalised
from engine.training.export import HALF_WEIGHTS_TOLERANCE, relative_difference

_IMAGES: Final = 2  # pictures that are compared. Chosen: enough to see another network.


def images_at_once(path: Path, card: BackboneCard) -> int | None:
    """How many images a file's network takes at once; None for any number.

    Raises:
        ModelError: the file cannot be opened, or is not what its card says.
    """
    return input_output(open_session(path), card).most_images


def check_agreement(path: Path, card: BackboneCard, network: nn.Module) -> float:
    """Largest difference of a network from its file, relative to the largest number in an embedding.

    Args:
        network: from images (B, 3, H, W), normalised as training does it, to embeddings; in evaluation mode.

    Raises:
        ModelError: they differ.
    """
    session = open_session(path)
    ends = input_output(session, card)
    images = trial_images(card.input_side, ends.most_images or _IMAGES)
    prepared = Preparation(card).prepare(images).astype(ends.input_type, copy=False)
    expected = pooled(run_session(session, {ends.input_name: prepared}, [ends.output_name])[0], card)
    with torch.no_grad():
        found = network(normalised(torch.from_numpy(images))).numpy()
    difference = relative_difference(np.asarray(found, dtype=np.float32), expected)
    if not difference <= HALF_WEIGHTS_TOLERANCE:  # also refuses a difference that is not a number
        raise ModelError(
            "the network in training does not do what its file does",
            expected="a relative difference of at most {tolerance:g}",
            found="{difference:.2g} in {path}",
            remedy="tune propagation instead, or train from another backbone",
            tolerance=HALF_WEIGHTS_TOLERANCE,
            difference=difference,
            path=path,
        )
    return difference
