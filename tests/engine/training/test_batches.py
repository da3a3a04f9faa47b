from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.errors import InputError
from engine.training.arithmetic import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    augmented_windows,
    middle_windows,
    normalised,
)
from engine.training.settings import Augmentation

STORED, SIDE, COUNT, STEP = 16, 12, 600, 10
AUGMENTATIONS: tuple[Augmentation, ...] = ("shifted crop", "resized crop", "none")


@pytest.fixture(scope="module")
def coordinates() -> NDArray[np.uint8]:
    """Images (2, 16, 16, 3): red is 10 times the row, green 10 times the column, blue the image."""
    pixels = np.zeros((2, STORED, STORED, 3), dtype=np.uint8)
    pixels[..., 0] = STEP * np.arange(STORED)[:, None]
    pixels[..., 1] = STEP * np.arange(STORED)
    pixels[1, ..., 2] = 1
    return pixels


def read_back(images: torch.Tensor) -> NDArray[np.float32]:
    """(B, H, W, 3) pixel values of normalised images."""
    mean, deviation = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
    return ((images.permute(0, 2, 3, 1) * deviation + mean) * 255).numpy()


def drawn(pixels: NDArray[np.uint8], augmentation: Augmentation, *, seed: int = 0) -> torch.Tensor:
    """Many windows of the second image."""
    generator = np.random.default_rng(seed)
    return augmented_windows(
        pixels, np.ones(COUNT, dtype=np.int64), SIDE, generator, augmentation=augmentation
    )


def test_normalised_by_hand() -> None:
    """Black is -0.485/0.229 in red; white is (1 - 0.406)/0.225 in blue.

    Channels come first but lie last.
    """
    windows = torch.tensor([[[[0, 0, 255], [255, 51, 0]]]], dtype=torch.uint8)
    images = normalised(windows)
    assert images.shape == (1, 3, 1, 2)
    expected = [
        [-0.485 / 0.229, 0.515 / 0.229],
        [-0.456 / 0.224, (0.2 - 0.456) / 0.224],
        [0.594 / 0.225, -0.406 / 0.225],
    ]
    torch.testing.assert_close(images[0, :, 0], torch.tensor(expected), atol=1e-6, rtol=0)
    assert images.permute(0, 2, 3, 1).is_contiguous()


def test_middle_window(coordinates: NDArray[np.uint8]) -> None:
    """The margin is the same on both sides; an odd pixel more stays at the end."""
    windows = middle_windows(coordinates, np.array([1, 0, 1]), SIDE)
    assert windows.shape == (3, SIDE, SIDE, 3)
    assert windows[0, :, 0, 0].tolist() == [STEP * row for row in range(2, 14)]
    assert windows[:, 0, 0, 2].tolist() == [1, 0, 1]
    assert middle_windows(coordinates, np.array([0]), SIDE + 1)[0, 0, 0].tolist() == [STEP, STEP, 0]
    assert middle_windows(coordinates, np.array([0]), STORED).shape == (1, STORED, STORED, 3)


def test_without_augmentation_it_is_the_middle(coordinates: NDArray[np.uint8]) -> None:
    """Nothing is drawn."""
    images = drawn(coordinates, "none")
    expected = middle_windows(coordinates, np.array([1]), SIDE)[0]
    np.testing.assert_allclose(read_back(images)[COUNT - 1], expected, atol=1e-3)


def test_shifted_crops_are_windows_of_the_image(coordinates: NDArray[np.uint8]) -> None:
    """Each crop is a whole window, offsets equally often, and flipped half of the time."""
    crops = read_back(drawn(coordinates, "shifted crop"))
    rows, columns = (np.rint(crops[:, :, 0, 0] / STEP), np.rint(crops[:, 0, :, 1] / STEP))
    assert (np.diff(rows, axis=1) == 1).all()
    steps = np.diff(columns, axis=1)
    flipped = steps[:, 0] == -1
    assert (steps == np.where(flipped, -1, 1)[:, None]).all()
    assert 0.42 < flipped.mean() < 0.58
    for first in (rows.min(axis=1), columns.min(axis=1)):
        offsets, counts = np.unique(first, return_counts=True)
        assert offsets.tolist() == [0, 1, 2, 3, 4]
        assert counts.min() > COUNT / 5 * 0.7
    assert (np.rint(crops[..., 2]) == 1).all()


def test_resized_crops_lie_inside_the_image(coordinates: NDArray[np.uint8]) -> None:
    """Windows of 20 to 100% of the area, at most 4:3, flipped half of the time."""
    images = drawn(coordinates, "resized crop")
    assert images.shape == (COUNT, 3, SIDE, SIDE)
    assert images.dtype == torch.float32
    crops = read_back(images)
    assert crops[..., :2].min() > -0.01
    assert crops[..., :2].max() < STEP * (STORED - 1) + 0.01
    height = np.median(np.diff(crops[:, :, 0, 0], axis=1), axis=1) * SIDE / STEP / STORED
    width = np.median(np.diff(crops[:, 0, :, 1], axis=1), axis=1) * SIDE / STEP / STORED
    assert 0.42 < (width < 0).mean() < 0.58
    area, aspect = np.abs(width) * height, np.abs(width) / height
    assert 0.19 < area.min() < 0.25
    assert 0.9 < area.max() < 1.01
    assert 0.74 < aspect.min() < 0.8
    assert 1.27 < aspect.max() < 1.34


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_same_generator_same_windows(
    coordinates: NDArray[np.uint8], augmentation: Augmentation
) -> None:
    """All randomness comes from the generator.

    Channels lie last in memory, as convolutions like it.
    """
    first, again = drawn(coordinates, augmentation), drawn(coordinates, augmentation)
    assert torch.equal(first, again)
    assert torch.equal(first, drawn(coordinates, augmentation, seed=1)) == (augmentation == "none")
    assert first.is_contiguous(memory_format=torch.channels_last)


def test_memory_mapped_images(coordinates: NDArray[np.uint8], tmp_path: Path) -> None:
    """Images on disk that may not be written to give the same."""
    path = tmp_path / "pixels.npy"
    np.save(path, coordinates)
    mapped = np.load(path, mmap_mode="r")
    for augmentation in AUGMENTATIONS:
        assert torch.equal(drawn(mapped, augmentation), drawn(coordinates, augmentation))


def test_stored_images_are_too_small(coordinates: NDArray[np.uint8]) -> None:
    """The error names both sides and what to do."""
    with pytest.raises(
        InputError,
        match=r"expected at most 16 px, found 17 px\. Build the data set with a larger side",
    ):
        middle_windows(coordinates, np.array([0]), STORED + 1)
