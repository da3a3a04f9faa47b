"""Backbones compared: size, speed, and accuracy of prototypes on their embeddings."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.collection.models import ModelFiles
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from research.benchmarks.rates import decode_all, measure_inference_alone
from research.transfer.collection import TransferCollection

IMAGES = 128
"""Images that the speed is measured on."""
ROUNDS = 5
"""Every backbone is timed in each, in turn; the median counts."""
BYTES_PER_MB = 1e6


@dataclass(frozen=True)
class MeasuredBackbone:
    """Cost of a backbone.

    Attributes:
        name: of the backbone.
        size_mb: of its file, in millions of bytes.
        input_side: of the images in pixels.
        images_per_s: on all processor cores by ONNX Runtime, decoded images in memory.
    """

    name: str
    size_mb: float
    input_side: int
    images_per_s: float


def measure_candidates(
    collection: TransferCollection, models: Sequence[ModelFiles]
) -> tuple[MeasuredBackbone, ...]:
    """Time the backbones in turn on the CPU, without decoding and cache."""
    rates = _rates(collection, models)
    return tuple(
        MeasuredBackbone(
            model.name,
            model.backbone.stat().st_size / BYTES_PER_MB,
            model.card.input_side,
            statistics.median(rates[model.backbone_hash]),
        )
        for model in models
    )


def _rates(
    collection: TransferCollection, models: Sequence[ModelFiles]
) -> Mapping[str, Sequence[float]]:
    step = max(1, len(collection.files) // IMAGES)
    paths = [file.path for file in collection.files[::step][:IMAGES]]
    sessions = {
        model.backbone_hash: BackboneSession(model.backbone, model.card, choose_providers("cpu"))
        for model in models
    }
    images = {
        name: decode_all(paths, session.card, workers=session.parallel_runs)
        for name, session in sessions.items()
    }
    rates: dict[str, list[float]] = {name: [] for name in sessions}
    for number in range(ROUNDS + 1):
        for name, session in sessions.items():
            rate = measure_inference_alone(images[name], session)
            if number:  # the first round warms up
                rates[name].append(rate)
    return rates
