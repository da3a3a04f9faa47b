from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.runtime.sessions import usable_cores
from tests.support.backbones import SIDE, WIDTH, tiny_weights, write_tiny_backbone

CPU = ProviderChoice(CPU_PROVIDER, "CPU")


def by_hand(images: NDArray[np.uint8], card: BackboneCard) -> NDArray[np.float64]:
    """The tiny backbone in plain numpy.

    Normalise, strided 3 x 3 convolution, ReLU, mean over places.
    """
    normalised = (images / 255 - np.array(card.mean)) / np.array(card.std)
    padded = np.pad(normalised, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2]
    features = np.einsum("bhwcij,ocij->bhwo", windows, tiny_weights().astype(np.float64))
    result: NDArray[np.float64] = np.maximum(features, 0).mean(axis=(1, 2))
    return result


def noise(count: int) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (count, SIDE, SIDE, 3), dtype=np.uint8)


@pytest.mark.parametrize("count", [1, 5, 70])
def test_embeddings_are_what_the_network_says(tmp_path: Path, count: int) -> None:
    """Normalisation and network agree with the same computed by hand, for any batch."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    embeddings = BackboneSession(tmp_path / "tiny.onnx", card, CPU).embed(noise(count))
    assert embeddings.dtype == np.float32
    assert np.allclose(embeddings, by_hand(noise(count), card), rtol=1e-4, atol=1e-4)


def test_empty_batch(tmp_path: Path) -> None:
    """No images have no embeddings."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    assert BackboneSession(tmp_path / "tiny.onnx", card, CPU).embed(noise(0)).shape == (0, WIDTH)


def test_several_threads_at_once(tmp_path: Path) -> None:
    """Runs from several threads do not disturb one another."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    session = BackboneSession(tmp_path / "tiny.onnx", card, CPU)
    expected = session.embed(noise(40))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(session.embed, [noise(40)[start : start + 1] for start in range(40)]))
    assert np.allclose(np.concatenate(parts), expected, rtol=1e-5, atol=1e-5)


def test_cores(tmp_path: Path) -> None:
    """The session runs well on all cores by default, and a few more threads feed a GPU."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    assert BackboneSession(tmp_path / "tiny.onnx", card, CPU).parallel_runs == usable_cores()
    assert BackboneSession(tmp_path / "tiny.onnx", card, CPU, threads=3).parallel_runs == 3


def test_wrong_images_are_a_bug(tmp_path: Path) -> None:
    """Another side or dtype is refused."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    session = BackboneSession(tmp_path / "tiny.onnx", card, CPU)
    with pytest.raises(ValueError, match="shape"):
        session.embed(noise(2)[:, 1:])
    with pytest.raises(ValueError, match="uint8"):
        session.embed(noise(2).astype(np.float32))


def test_model_that_does_not_fit_its_card(tmp_path: Path) -> None:
    """A wrong embedding width or input is found when the model is opened."""
    path = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(path)
    with pytest.raises(ModelError, match="output"):
        BackboneSession(path, replace(card, embedding_width=WIDTH + 1), CPU)
    write_tiny_backbone(path, channels=1)
    with pytest.raises(ModelError, match="input"):
        BackboneSession(path, card, CPU)


def test_values_that_are_no_numbers(tmp_path: Path) -> None:
    """A backbone that gives infinities is refused."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(ModelError, match="not numbers"), np.errstate(all="ignore"):
        BackboneSession(tmp_path / "tiny.onnx", replace(card, std=(1e-38, 1e-38, 1e-38)), CPU)
