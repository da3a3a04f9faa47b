"""Sizes of measurements: large on a GPU, small on a CPU, minimal in tests."""

from dataclasses import dataclass

from engine.runtime.devices.gather import query_driver
from research.generated_data import LIKE_PAPER, SMALL, GeneratedSize


@dataclass(frozen=True)
class Sizes:
    """Sizes of all measurements."""

    copies: int  # of each of the drawn photos
    pictures: int  # drawn photos of different content
    cpu_photos: int  # photos that the CPU embeds
    compared: int  # images whose embeddings are compared with the CPU's
    batch: int  # images of a run of a network in torch
    cpu_batch: int  # the same on the CPU
    side: int  # of the trained images in pixels
    data: GeneratedSize  # that training draws from
    rounds: int  # timed ones
    embeddings: int  # that a GPU classifies
    cpu_embeddings: int  # that the CPU classifies
    classes: int  # to choose among
    block: int  # embeddings of a batch on the GPU


ON_GPU = Sizes(
    copies=48,
    pictures=60,
    cpu_photos=384,
    compared=64,
    batch=256,
    cpu_batch=32,
    side=84,
    data=LIKE_PAPER,
    rounds=5,
    embeddings=2_500_000,
    cpu_embeddings=200_000,
    classes=1_000,
    block=65_536,
)
ON_CPU = Sizes(
    copies=2,
    pictures=24,
    cpu_photos=48,
    compared=8,
    batch=16,
    cpu_batch=16,
    side=84,
    data=LIKE_PAPER,
    rounds=3,
    embeddings=20_000,
    cpu_embeddings=20_000,
    classes=1_000,
    block=4_096,
)
TINY = Sizes(
    copies=1,
    pictures=4,
    cpu_photos=4,
    compared=2,
    batch=2,
    cpu_batch=2,
    side=16,
    data=SMALL,
    rounds=3,
    embeddings=500,
    cpu_embeddings=500,
    classes=20,
    block=200,
)


def has_gpu() -> bool:
    """Whether the NVIDIA driver offers a GPU to this process."""
    return query_driver().device_count > 0


def fitting_sizes(*, few: bool = False) -> Sizes:
    """Sizes for this computer; minimal ones with `few`."""
    if few:
        return TINY
    return ON_GPU if has_gpu() else ON_CPU
