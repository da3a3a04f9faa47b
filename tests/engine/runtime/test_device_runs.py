"""A backbone on a GPU that is the CPU in disguise.

Batches, buffers, switches, and failures in the midst of a run.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.errors import ModelError
from engine.events import Progress
from engine.model_card import BackboneCard
from engine.runtime import backbone
from engine.runtime.backbone import BackboneSession, cuda_run
from engine.runtime.backbone_input import input_output
from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER, PROVIDERS
from engine.runtime.devices.settings import DeviceSettings
from engine.runtime.eight_bit import agreement
from engine.runtime.providers import CPU_CHOICE, ProviderChoice
from engine.runtime.sessions import BoundRuns, open_session
from tests.support.backbones import SIDE, WIDTH, tiny_card, write_tiny_backbone
from tests.support.companions import write_companion
from tests.support.fake_gpu import FAKE_GPU, install_fake_gpu
from tests.support.images import write_jpeg


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_backbone(tmp_path / "tiny.onnx")
    return tmp_path / "tiny.onnx"


@pytest.fixture
def card(tmp_path: Path) -> BackboneCard:
    return write_tiny_backbone(tmp_path / "other.onnx")


def noise(count: int) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (count, SIDE, SIDE, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    "settings",
    [
        DeviceSettings(),
        DeviceSettings(io_binding=False),
        DeviceSettings(cuda_graphs=True),
        DeviceSettings(batch=3),
        DeviceSettings(batch=1, cuda_graphs=True),
    ],
)
def test_every_way_gives_the_same(
    model: Path, card: BackboneCard, settings: DeviceSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buffers, recorded runs and other batches change no embedding."""
    install_fake_gpu(monkeypatch)
    session = BackboneSession(model, card, replace(FAKE_GPU, settings=settings))
    expected = BackboneSession(model, card, CPU_CHOICE).embed(noise(11))
    assert np.allclose(session.embed(noise(11)), expected, rtol=1e-5, atol=1e-5)
    assert (session.device_name, session.notice, session.is_on_gpu) == ("GPU 1", "", True)


def test_batch_follows_the_memory(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Free memory decides, a setting goes before it, and the CPU has its own."""
    install_fake_gpu(monkeypatch)
    assert BackboneSession(model, card, FAKE_GPU).batch_size == 128
    assert (
        BackboneSession(model, card, replace(FAKE_GPU, settings=DeviceSettings(batch=5))).batch_size
        == 5
    )
    assert BackboneSession(model, card, CPU_CHOICE).batch_size == 8


@pytest.mark.parametrize(
    ("settings", "is_bound", "is_fixed"),
    [
        (DeviceSettings(), True, False),
        (DeviceSettings(io_binding=False), False, False),
        (DeviceSettings(io_binding=False, cuda_graphs=True), True, True),
    ],
)
def test_cuda_has_buffers(
    model: Path, settings: DeviceSettings, is_bound: bool, is_fixed: bool
) -> None:
    """Unless they are switched off; recorded runs have them, of one size, in any case."""
    session = open_session(model)
    ends = input_output(session, tiny_card())
    run = cuda_run(session, ends.input_name, ends.output_name, 4, settings)
    assert isinstance(run, BoundRuns) == is_bound
    assert getattr(run, "is_fixed", False) == is_fixed


@pytest.mark.parametrize(
    "message", ["CUDA failure 700: illegal address", "CUDA error 2: out of memory"]
)
def test_embedding_outlives_the_gpu(
    tmp_path: Path, model: Path, card: BackboneCard, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that fails in the midst of a run costs nothing but speed, and is reported once."""
    opened = install_fake_gpu(monkeypatch, runs=3, message=message)
    session = BackboneSession(
        model, card, replace(FAKE_GPU, settings=DeviceSettings(batch=4)), threads=2
    )
    requests = [EmbedRequest(n, write_jpeg(tmp_path / f"{n}.jpg", seed=n)) for n in range(40)]
    reported: list[Progress] = []
    with EmbeddingCache(tmp_path / "cache", "ab" * 32, WIDTH) as cache:
        summary = embed_files(requests, session, cache, on_progress=reported.append)
    assert (summary.embedded, summary.failed) == (40, ())
    assert (summary.device_name, reported[-1].note) == ("CPU", "CPU")
    assert summary.notice.startswith("GPU 1 failed (")
    assert {progress.notice for progress in reported} == {"", summary.notice}
    assert (reported[0].notice, reported[-1].notice) == ("", summary.notice)
    assert opened == [CPU_PROVIDER, CUDA_PROVIDER, CPU_PROVIDER]
    assert not session.is_on_gpu


def test_a_network_that_the_gpu_cannot_open(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself the CPU takes over with a notice; a device requested by name is an error."""

    def refuse(path: Path, provider: str = CPU_PROVIDER, **options: object) -> object:
        if provider != CPU_PROVIDER:
            raise ModelError("the model cannot be opened", found="operator Foo is unknown")
        return open_session(path)

    monkeypatch.setattr(backbone, "open_session", refuse)
    session = BackboneSession(model, card, FAKE_GPU)
    assert (session.device_name, session.embed(noise(3)).shape) == ("CPU", (3, WIDTH))
    assert (
        session.notice == "GPU 1 cannot run this network (operator Foo is unknown); the CPU is used"
    )
    with pytest.raises(ModelError, match="Foo"):
        BackboneSession(model, card, replace(FAKE_GPU, is_explicit=True))


def test_a_gpu_that_fails_at_once(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never began: by itself the CPU takes over with a notice.

    A device requested by name is an error.
    """
    install_fake_gpu(monkeypatch, runs=0)
    session = BackboneSession(model, card, FAKE_GPU)
    assert (session.device_name, session.embed(noise(3)).shape) == ("CPU", (3, WIDTH))
    assert session.notice.startswith("GPU 1 cannot run this network (CUDA failure 700")
    with pytest.raises(ModelError, match="CUDA failure 700"):
        BackboneSession(model, card, replace(FAKE_GPU, is_explicit=True))


@pytest.mark.parametrize("runs", [0, 1 << 30])
def test_the_companion_embeds_on_every_device(
    model: Path, card: BackboneCard, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the GPU as on the CPU, and on the CPU that takes over.

    Embeddings of one identity are never mixed.
    """
    other = model.with_name("half.onnx")
    network = onnx.load(str(model))
    for weights in network.graph.initializer:
        weights.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(weights) * np.float32(0.5), weights.name)
        )
    onnx.save(network, str(other))
    write_companion(model, other)
    install_fake_gpu(monkeypatch, runs=runs)
    session, usual = (
        BackboneSession(model, card, FAKE_GPU),
        BackboneSession(model, card, CPU_CHOICE),
    )
    assert (session.is_eight_bit, usual.is_eight_bit) == (True, True)
    assert np.array_equal(session.embed(noise(3)), usual.embed(noise(3)))


@pytest.mark.parametrize(("cosine", "kept"), [(0.9999, True), (0.99, False)])
def test_half_precision_is_kept_where_it_agrees(
    model: Path, card: BackboneCard, cosine: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When embeddings differ from the CPU's, the network is opened again in full precision."""
    opened = install_fake_gpu(monkeypatch)
    monkeypatch.setattr(backbone, "agreement", lambda _found, _expected: cosine)
    BackboneSession(model, card, replace(FAKE_GPU, settings=DeviceSettings(half=True)))
    assert opened.count(CUDA_PROVIDER) == (1 if kept else 2)


def test_half_precision_opens_the_mixed_form(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its real embeddings agree; the CPU that it is compared with has the file itself."""
    opened: list[tuple[str, bool]] = []

    def note(path: Path, provider: str = CPU_PROVIDER, **_options: object) -> object:
        opened.append(
            (provider, any(node.op_type == "Cast" for node in onnx.load(str(path)).graph.node))
        )
        return open_session(path)

    install_fake_gpu(monkeypatch)
    monkeypatch.setattr(backbone, "open_session", note)
    session = BackboneSession(model, card, replace(FAKE_GPU, settings=DeviceSettings(half=True)))
    assert opened == [(CPU_PROVIDER, False), (CUDA_PROVIDER, True), (CPU_PROVIDER, False)]
    assert (
        agreement(session.embed(noise(3)), BackboneSession(model, card, CPU_CHOICE).embed(noise(3)))
        > 0.999
    )


def test_an_eight_bit_version_has_no_mixed_form(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half precision moves values across its rounding.

    Photos would differ by more than the few that are compared.
    """
    write_companion(model, model)
    install_fake_gpu(monkeypatch)
    halved: list[Path] = []
    monkeypatch.setattr(backbone, "write_half", lambda path, _target: halved.append(path))
    session = BackboneSession(model, card, replace(FAKE_GPU, settings=DeviceSettings(half=True)))
    assert (session.is_eight_bit, session.is_on_gpu, halved) == (True, True, [])


def test_an_experimental_device_must_agree_with_the_cpu(
    model: Path, card: BackboneCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the backbone itself, not on the tiny model alone."""
    monkeypatch.setattr(
        backbone, "open_session", lambda path, *_provider, **_options: open_session(path)
    )
    choice = ProviderChoice(PROVIDERS["coreml"], "CoreML", is_explicit=True)
    expected = BackboneSession(model, card, CPU_CHOICE).embed(noise(3))
    assert np.array_equal(BackboneSession(model, card, choice).embed(noise(3)), expected)
    monkeypatch.setattr(backbone, "agreement", lambda _found, _expected: 0.99)
    with pytest.raises(
        ModelError, match=r"differ from the CPU's: expected a cosine of 0\.999, found 0\.990"
    ):
        BackboneSession(model, card, choice)


def test_agreement() -> None:
    """The worst row counts: (3, 4) against (4, 3) is 0.96.

    What is not a number agrees with nothing.
    """
    found = np.array([[3.0, 4.0], [1.0, 0.0]])
    assert agreement(found, np.array([[4.0, 3.0], [2.0, 0.0]])) == pytest.approx(0.96)
    assert agreement(found, np.full_like(found, np.nan)) == 0.0
