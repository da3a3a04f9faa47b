"""Classifying a big collection: top classes by matrix products on a GPU, and the engine on CPU."""

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import to_fixed
from engine.everyday.prototypical.classification import (
    LinearClassifier,
    classify_all,
    linear_classifier,
)
from research.gpu_report.networks import torch_gpu
from research.gpu_report.part import Measurement
from research.gpu_report.rows import Detail, ReportRow
from research.gpu_report.sizes import Sizes
from research.gpu_report.timing import median_s

WIDTH = 1280
"""Width of an embedding, as of many published backbones; the accurate one's is on its card."""
LIKELIEST = 5
_COARSE = 50
"""Coarse classes, for the engine's safe class."""
_TEMPERATURE = 0.05
_COLLECTION = 2_500_000
"""Images of the collection that times refer to."""


def measurements(sizes: Sizes) -> Sequence[Measurement]:
    """Embeddings in host memory, pageable and pinned, and on the GPU; then the engine."""
    width = WIDTH if sizes.classes >= 1000 else 64  # noqa: PLR2004 (tests are narrow)
    return [
        Measurement(
            "on the GPU, embeddings in host memory",
            partial(_streamed, sizes, width, is_pinned=False),
        ),
        Measurement(
            "on the GPU, embeddings in pinned host memory",
            partial(_streamed, sizes, width, is_pinned=True),
        ),
        Measurement("on the GPU, embeddings there", partial(_resident, sizes, width)),
        Measurement("the engine on the CPU", partial(_engine, sizes, width)),
        Measurement("torch on the CPU", partial(_torch_on_cpu, sizes, width)),
    ]


@cache
def _prototypes(classes: int, width: int) -> Tensor:
    """Random prototypes (classes, width) float32 of length 1."""
    drawn = torch.randn(classes, width, generator=torch.Generator().manual_seed(1))
    return torch.nn.functional.normalize(drawn, dim=1)


def _drawn_block(count: int, width: int, device: torch.device, number: int) -> Tensor:
    """Random embeddings (count, width) float16 of length 1."""
    generator = torch.Generator(device).manual_seed(number)
    drawn = torch.randn(count, width, device=device, generator=generator)
    return torch.nn.functional.normalize(drawn, dim=1).half()


def _collection(count: int, width: int, device: torch.device, *, is_pinned: bool) -> Tensor:
    """Random embeddings (count, width) float16 in host memory, drawn on the GPU."""
    found = torch.empty(count, width, dtype=torch.float16, pin_memory=is_pinned)
    step = 1 << 18
    for start in range(0, count, step):
        part = found[start : start + step]
        part.copy_(_drawn_block(len(part), width, device, start))
    return found


def most_probable(embeddings: Tensor, weights: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Probability and position of the top classes: (B, 5) float32 and (B, 5) int64."""
    logits = torch.addmm(offsets, embeddings, weights.T).float()
    found = logits.softmax(dim=1).topk(min(LIKELIEST, len(weights)), dim=1)
    return found.values, found.indices


def _classifier(classes: int, width: int) -> LinearClassifier:
    return linear_classifier(_prototypes(classes, width).numpy(), _TEMPERATURE)


def _on(device: torch.device, sizes: Sizes, width: int) -> tuple[Tensor, Tensor]:
    classifier = _classifier(sizes.classes, width)
    weights = torch.from_numpy(classifier.weights).to(device).half()
    return weights, torch.from_numpy(classifier.offsets).to(device).half()


def _streamed(sizes: Sizes, width: int, *, is_pinned: bool) -> ReportRow:
    device = torch_gpu()
    collection = _collection(sizes.embeddings, width, device, is_pinned=is_pinned)
    weights, offsets = _on(device, sizes, width)
    scores = torch.empty(len(collection), min(LIKELIEST, sizes.classes), pin_memory=is_pinned)
    places = torch.empty(scores.shape, dtype=torch.int64, pin_memory=is_pinned)
    torch.cuda.reset_peak_memory_stats()

    def work() -> None:
        for start in range(0, len(collection), sizes.block):
            rows = slice(start, start + sizes.block)
            block = collection[rows].to(device, non_blocking=is_pinned)
            values, indices = most_probable(block, weights, offsets)
            scores[rows].copy_(values, non_blocking=is_pinned)
            places[rows].copy_(indices, non_blocking=is_pinned)

    seconds = median_s(work, 3, torch.cuda.synchronize)
    details = {
        "same class as in float32 on the CPU": _same_class(
            collection[:4096], places[:4096, 0], sizes, width
        )
    }
    return _row(len(collection), seconds, sizes, {"width": width, **details, **_memory()})


def _same_class(embeddings: Tensor, places: Tensor, sizes: Sizes, width: int) -> float:
    """Share of images whose top class is that of float32 on the CPU."""
    logits = _classifier(sizes.classes, width).logits(embeddings.float().numpy())
    return float((logits.argmax(axis=1) == places.numpy()).mean())


def _resident(sizes: Sizes, width: int) -> ReportRow:
    device = torch_gpu()
    blocks = [_drawn_block(sizes.block, width, device, number) for number in range(4)]
    weights, offsets = _on(device, sizes, width)
    seconds = median_s(
        lambda: [most_probable(block, weights, offsets) for block in blocks],
        10,
        torch.cuda.synchronize,
    )
    return _row(len(blocks) * sizes.block, seconds, sizes, {"width": width})


def _memory() -> dict[str, Detail]:
    return {"GPU memory, MiB": torch.cuda.max_memory_allocated() / 2**20}


def _engine(sizes: Sizes, width: int) -> ReportRow:
    classifier, back_off = _classifier(sizes.classes, width), _back_off(sizes.classes)
    count = sizes.cpu_embeddings
    embeddings = to_fixed(_host_embeddings(count, width))
    seconds = median_s(lambda: classify_all(classifier, back_off, embeddings), 3)
    return _row(count, seconds, sizes, {"width": width, "safe classes too": True})


def _host_embeddings(count: int, width: int) -> NDArray[np.float32]:
    drawn = np.random.default_rng(0).standard_normal((count, width), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def _back_off(classes: int) -> BackOff:
    """Back-off with each class below one of the coarse ones."""
    above = np.arange(classes) % _COARSE
    return BackOff(
        candidate_ids=np.arange(classes, dtype=np.int64),
        candidate_bars=np.full(classes, 0.8, dtype=np.float32),
        coarse_ids=np.arange(classes, classes + _COARSE, dtype=np.int64),
        coarse_bars=np.full(_COARSE, 0.8, dtype=np.float32),
        coarse_levels=np.zeros(_COARSE, dtype=np.int64),
        roll_up=(above[:, None] == np.arange(_COARSE)).astype(np.float32),
    )


def _torch_on_cpu(sizes: Sizes, width: int) -> ReportRow:
    classifier = _classifier(sizes.classes, width)
    weights, offsets = torch.from_numpy(classifier.weights), torch.from_numpy(classifier.offsets)
    embeddings = torch.from_numpy(_host_embeddings(min(sizes.cpu_embeddings, sizes.block), width))
    seconds = median_s(lambda: most_probable(embeddings, weights, offsets), 3)
    return _row(
        len(embeddings), seconds, sizes, {"width": width, "threads": torch.get_num_threads()}
    )


def _row(count: int, seconds: float, sizes: Sizes, details: dict[str, Detail]) -> ReportRow:
    rate = count / seconds
    size: dict[str, Detail] = {
        "classes": sizes.classes,
        "images": count,
        "s for 2.5 million": _COLLECTION / rate,
    }
    return ReportRow("", rate, "images/s", {**size, **details})
