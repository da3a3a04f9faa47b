"""How fast files become embeddings, beside decoding alone and the backbone alone."""

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.data.find_images import find_images
from engine.errors import InputError
from engine.inference.backbone import BackboneSession
from engine.inference.providers import choose_providers
from engine.inference.rates import measure_rates
from engine.sample_collection.collection import draw_collection
from engine.workflows.models import BUNDLED_NAME, find_model

DRAWN_PER_CLASS = 11


@dataclass(frozen=True)
class EmbedFigures:
    """Medians over rounds in which all three were timed in turn, images a second.

    Attributes:
        decode: decoding alone on all cores.
        inference: the backbone alone on all cores.
        pipeline: end to end with cache writes.
        share_of_limit: pipeline over the smaller of the two.
        share_of_reachable: pipeline over 1 / (1/decode + 1/inference): on a CPU both share the same cores.
        limit: what the project promises for `share_of_limit`.
    """

    images: int
    device: str
    decode: float
    inference: float
    pipeline: float
    share_of_limit: float
    share_of_reachable: float
    limit: float = 0.85


def measure_embed(
    paths: Sequence[Path] = (), *, device: str = "auto", rounds: int = 5, most: int = 1000
) -> EmbedFigures:
    """Time the pipeline on image files, by default on the drawn sample collection.

    Raises:
        InputError: no images in `paths`.
    """
    model = find_model(BUNDLED_NAME)
    session = BackboneSession(model.backbone, model.card, choose_providers(device))
    with tempfile.TemporaryDirectory() as folder:
        if not paths:
            draw_collection(Path(folder), images_per_class=DRAWN_PER_CLASS)
            paths = [Path(folder)]
        files = [file.path for file in find_images(paths).files][:most]
        if not files:
            raise InputError("there are no images to measure with", found=", ".join(map(str, paths)))
        triples = measure_rates(files, session, rounds=rounds)
    return EmbedFigures(
        len(files),
        session.device_name,
        statistics.median(triple.decode for triple in triples),
        statistics.median(triple.inference for triple in triples),
        statistics.median(triple.pipeline for triple in triples),
        statistics.median(triple.share_of_limit for triple in triples),
        statistics.median(triple.pipeline / triple.reachable for triple in triples),
    )
