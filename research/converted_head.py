"""Make the affine cut that ends a converted backbone: many pooled maps to few numbers.

    python -m research.converted_head efficientnet-lite2 TINY_IMAGENET/val GROCERY/train
        CIFAR_HALF/train

Every folder is a collection of photos in class folders. The main directions of variance are kept,
each collection with the same weight; then directions in which photos of one class of the first
collection scatter are divided by half of that scatter. Takes some twenty minutes on two cores. It
changes the embeddings of the backbone, so that existing projects have to embed again.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from engine.backbones.convert import network_with, published_weights
from engine.backbones.model_files import CONVERTED
from engine.images.decode import decode_square
from engine.images.kinds import IMAGE_SUFFIXES
from engine.model_card import read_card
from engine.new_file import new_file
from research.embedding_head import EmbeddingHead

NUMBERS = 512
"""Numbers of an embedding; 384 cost half a point, 768 gain none (decision 22)."""
WHITENING = 0.5
"""0 leaves the directions unchanged, 1 equalises the scatter within classes."""
SHRINKAGE = 0.1
"""Share of the mean scatter in the scatter of each direction."""
LARGEST = 4.0
"""Largest entry of the matrix, which is stored in 16 bits; embeddings are normalised anyway."""
BATCH = 32
"""Images in one run of the network. Chosen: little memory."""

Floats = NDArray[np.float64]
Photos = tuple[Floats, NDArray[np.int64]]
"""Features (n, d) and the class of each, from 0."""


def fit_cut(collections: Sequence[Photos], numbers: int = NUMBERS) -> EmbeddingHead:
    """Fit the cut; its matrix is (numbers, d).

    Args:
        collections: of photos with classes; scatter within classes is that of the first.
        numbers: kept of d.
    """
    mean = np.mean([features.mean(axis=0) for features, _ in collections], axis=0)
    spread = sum(_evened(np.cov(features.T)) for features, _ in collections)
    kept = np.linalg.eigh(spread)[1][:, -numbers:]
    scatter, directions = np.linalg.eigh(kept.T @ _scatter(*collections[0]) @ kept)
    shrunk = (1 - SHRINKAGE) * scatter + SHRINKAGE * scatter.mean()
    matrix = (kept @ (directions * shrunk ** (-WHITENING / 2))).T
    return EmbeddingHead(mean, matrix * (LARGEST / np.abs(matrix).max()))


def _evened(covariance: Floats) -> Floats:
    evened: Floats = covariance / np.trace(covariance)
    return evened


def _scatter(features: Floats, targets: NDArray[np.int64]) -> Floats:
    """Covariance (d, d) within classes."""
    means = np.stack(
        [features[targets == target].mean(axis=0) for target in range(int(targets.max()) + 1)]
    )
    inner = features - means[targets]
    scatter: Floats = inner.T @ inner / len(inner)
    return scatter


def main(
    name: str,
    folders: Annotated[list[Path], typer.Argument(help="Collections of photos in class folders.")],
    numbers: Annotated[int, typer.Option(help="Numbers of an embedding.")] = NUMBERS,
) -> None:
    """Fit the head of the backbone NAME to photos below FOLDERS; write it for the conversion."""
    source = CONVERTED[name]
    network = network_with(None, name, published_weights(source)).backbone
    side = read_card(source.model).input_side
    head = fit_cut([_photos(folder, network, side) for folder in folders], numbers)
    maps = np.arange(len(network.map_widths))  # type: ignore[arg-type]
    with new_file(source.head, replace=True) as draft:
        halves = {"mean": head.mean.astype(np.float16), "matrix": head.matrix.astype(np.float16)}
        np.savez_compressed(draft.file, allow_pickle=False, maps=maps, **halves)
    typer.echo(f"{source.head}: {head.matrix.shape[0]} of {head.matrix.shape[1]} numbers")


def _photos(folder: Path, network: torch.nn.Module, side: int) -> Photos:
    """Features and classes of all photos below a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES)
    classes = {
        parent: place for place, parent in enumerate(sorted({path.parent for path in paths}))
    }
    with torch.inference_mode():
        features = [network(batch).numpy() for batch in _batches(paths, side)]
    return np.concatenate(features).astype(np.float64), np.array(
        [classes[path.parent] for path in paths]
    )


def _batches(paths: Sequence[Path], side: int) -> Iterator[torch.Tensor]:
    """Preprocessed images (B, 3, side, side)."""
    for start in range(0, len(paths), BATCH):
        pixels = np.stack(
            [decode_square(path.read_bytes(), side) for path in paths[start : start + BATCH]]
        )
        yield (torch.from_numpy(pixels).permute(0, 3, 1, 2).float() - 127) / 128


if __name__ == "__main__":
    typer.run(main)
