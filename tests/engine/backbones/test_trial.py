"""Adding an ONNX file as a whole: children that are held to limits, real images, the library."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from engine.backbones.library import BackboneLibrary
from engine.backbones.messages import ExamineFile
from engine.backbones.preprocessing import Preprocessing
from engine.backbones.trial import add_file, inspect, trial_images, try_backbone, try_out
from engine.errors import Cancelled, InputError, ModelError, StorageError
from engine.events import CancelToken, Progress
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.worker import limits
from engine.worker.client import worker_command
from engine.worker.limits import Limits, call_child
from engine.worker.protocol import Failed, encode
from tests.support import onnx_models as models
from tests.support.full_disk import full_disk_after
from tests.support.images import write_jpeg
from tests.support.scripted_workers import scripted_command

ROOMY = Limits(seconds=60, memory_bytes=2**30, file_bytes=2**30)
ASKED = ExamineFile(Path("net.onnx"), ROOMY)
NARROW = replace(ROOMY, seconds=3)


@pytest.fixture
def pictures(tmp_path: Path) -> tuple[Path, ...]:
    """Eight pictures."""
    return tuple(write_jpeg(tmp_path / f"{seed}.jpg", seed=seed) for seed in range(8))


def child(program: str) -> list[str]:
    """Command of a child that does this instead of looking at a file."""
    return [sys.executable, "-c", f"import os, signal, sys, time; sys.stdin.readline(); {program}"]


@pytest.mark.slow
def test_inspecting_in_a_child(tmp_path: Path) -> None:
    """Facts come back from the child, and so do its reasons."""
    facts = inspect(models.write_vectors(tmp_path / "sound.onnx"), limits=ROOMY)
    assert (facts.name, facts.width) == ("sound", models.WIDTH)
    (tmp_path / "wrong.onnx").write_bytes(b"\x89PNG")
    with pytest.raises(ModelError, match="a PNG picture"):
        inspect(tmp_path / "wrong.onnx", limits=ROOMY)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_a_child_that_crashes(name: str) -> None:
    """Whatever ends the child is named; this process lives on."""
    with pytest.raises(ModelError, match=f"crashed.*{name}"):
        call_child(ASKED, ROOMY, command=child(f"os.kill(os.getpid(), signal.{name})"))


def test_a_child_that_says_nothing_of_use() -> None:
    """It ends, prints no event, or cannot even be started."""
    with pytest.raises(ModelError, match=r"status 3 \(oh no\)"):
        call_child(
            ASKED,
            ROOMY,
            command=child(
                "print('hello'); print('[1]'); print('oh no', file=sys.stderr); sys.exit(3)"
            ),
        )
    with pytest.raises(ModelError, match="no process can be started"):
        call_child(ASKED, ROOMY, command=["/nowhere/at/all"])


def test_what_a_child_says_fits_a_screen() -> None:
    """Names from a file are part of a reason.

    Their length is bounded, and they give a terminal no orders.
    """
    failure = Failed("the model \x1b[2J\u202e" + "x" * 100_000)
    with pytest.raises(ModelError) as refused:
        call_child(ASKED, ROOMY, command=scripted_command([failure]))
    assert str(refused.value).startswith("the model �[2J�xxx")
    assert len(str(refused.value)) == 1000


@pytest.mark.slow
def test_a_child_that_takes_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system sets no limit, the parent watches and ends it."""
    monkeypatch.setattr(limits, "_PROGRAM_BYTES", 0)
    greedy = child("x = bytearray(b'x' * 200_000_000); time.sleep(60)")
    with pytest.raises(ModelError, match="too much memory"):
        call_child(ASKED, replace(ROOMY, memory_bytes=100_000_000), command=greedy)


def test_a_child_that_is_cancelled() -> None:
    """Cancelling does not wait for the model."""
    cancel = CancelToken()
    timer = threading.Timer(0.3, cancel.cancel)
    timer.start()
    started_s = time.monotonic()
    with pytest.raises(Cancelled):
        call_child(ASKED, ROOMY, cancel=cancel, command=child("time.sleep(60)"))
    timer.join()
    assert time.monotonic() - started_s < 20


@pytest.mark.slow
def test_an_endless_model(tmp_path: Path) -> None:
    """A model that counts to 2^62 is ended after its time."""
    with pytest.raises(ModelError, match="takes too long"):
        inspect(models.write_endless(tmp_path / "endless.onnx"), limits=NARROW)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on private memory is kept by Linux")
def test_a_model_that_wants_a_hundred_gigabytes(tmp_path: Path) -> None:
    """The system refuses the memory, and the reason says so."""
    with pytest.raises(ModelError, match="too much memory"):
        inspect(models.write_greedy(tmp_path / "greedy.onnx"), limits=ROOMY)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on private memory is kept by Linux")
def test_a_file_that_grows_in_memory(tmp_path: Path) -> None:
    """Ten million operators of two bytes each take gigabytes once they are parsed.

    Refused in the child, not here.
    """
    path = tmp_path / "swollen.onnx"
    nodes = b"\x0a\x00" * 10_000_000
    path.write_bytes(b"\x3a\x80\xda\xc4\x09" + nodes)  # the graph, and its length
    with pytest.raises(ModelError, match="too much memory"):
        inspect(path, limits=replace(ROOMY, memory_bytes=2**28))


@pytest.mark.parametrize(
    ("write", "fields"),
    [
        (models.write_vectors, {"unit_length": False}),
        (
            models.write_vectors,
            {"channel_order": "bgr", "value_scale": 255.0, "mean": (120.0, 110.0, 100.0)},
        ),
        (models.write_map, {"pooling": "mean"}),
        (models.write_tokens, {"pooling": "mean", "output": "last_hidden_state"}),
        (models.write_tokens, {"pooling": "first"}),
        (models.write_channels_last, {"layout": "nhwc"}),
        (
            lambda path: models.write_channels_last(path, pooled=False),
            {"layout": "nhwc", "pooling": "mean"},
        ),
        (models.write_grey, {"channel_order": "grey"}),
        (models.write_scores_and_features, {"output": "pooled_features"}),
        (lambda path: models.write_vectors(path, side=models.SIDE, batch=1), {}),
        (models.write_external, {}),
    ],
)
def test_sessions_do_what_cards_say(
    tmp_path: Path, write: Callable[[Path], Path], fields: dict[str, object]
) -> None:
    """Layout, order, range, output, pooling and length agree with the same computed by hand."""
    path = tmp_path / "net.onnx"
    write(path)
    preprocessing = Preprocessing(input_side=models.SIDE, **fields)  # type: ignore[arg-type]
    card = preprocessing.card("small", width=models.WIDTH)
    images = np.random.default_rng(0).integers(
        0, 256, (3, models.SIDE, models.SIDE, 3), dtype=np.uint8
    )
    found = BackboneSession(path, card, ProviderChoice(CPU_PROVIDER, "CPU")).embed(images)
    values = (images / 255 * card.value_scale - card.mean) / card.std
    if card.channel_order == "grey":
        grey = images @ np.array([0.299, 0.587, 0.114])
        values = ((grey / 255 - card.mean[0]) / card.std[0])[..., None]
    elif card.channel_order == "bgr":
        values = values[..., ::-1]
    features = by_hand(values, channels=card.channels)
    expected = features[:, 0, 0] if card.pooling == "first" else features.mean(axis=(1, 2))
    if card.unit_length:
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    assert found.dtype == np.float32
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)


def by_hand(values: NDArray[np.float64], *, channels: int) -> NDArray[np.float64]:
    """The small networks' convolution of stride 4 and ReLU in plain numpy.

    (B, H, W, C) to (B, H / 4, W / 4, 12).
    """
    padded = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::4, ::4]
    result: NDArray[np.float64] = np.maximum(
        np.einsum(
            "bhwcij,ocij->bhwo", windows, models.weights(channels=channels).astype(np.float64)
        ),
        0,
    )
    return result


@pytest.mark.slow
def test_a_trial(tmp_path: Path, pictures: tuple[Path, ...]) -> None:
    """Figures of a sound network, from a child; unreadable pictures and copies are left out."""
    path = models.write_vectors(tmp_path / "net.onnx")
    card = Preprocessing(input_side=models.SIDE).card("net", width=models.WIDTH)
    (tmp_path / "broken.png").write_bytes(b"no picture")
    trial = try_out(path, card, (*pictures, pictures[0], tmp_path / "broken.png"), limits=ROOMY)
    assert (trial.images, trial.width) == (8, models.WIDTH)
    assert trial.images_per_s > 0
    assert trial.memory_bytes > 10**7
    assert trial.mean_length == pytest.approx(1)
    assert 0 < trial.spread < 2
    assert trial.batch_difference < 1e-4


@pytest.mark.slow
def test_networks_that_fail_the_trial(tmp_path: Path, pictures: tuple[Path, ...]) -> None:
    """Always equal, random, dependent on the batch, too large, not finite, of another width."""
    path = tmp_path / "net.onnx"
    unit = Preprocessing(input_side=models.SIDE).card("net", width=models.WIDTH)
    models.write_with_node(path, "Sign")
    with pytest.raises(ModelError, match="different images have the same embedding"):
        try_backbone(path, replace(unit, mean=(-100.0, -100.0, -100.0)), pictures)
    models.write_with_node(path, "RandomNormalLike")
    with pytest.raises(ModelError, match="a different embedding each time"):
        try_backbone(path, unit, pictures)
    models.write_with_node(path, "Softmax", axis=0)
    with pytest.raises(ModelError, match="depends on the other images of its batch"):
        try_backbone(path, unit, pictures)
    models.write_vectors(path)
    large = replace(unit, std=(1e-6, 1e-6, 1e-6), unit_length=False)
    with pytest.raises(ModelError, match="too large to be stored"):
        try_backbone(path, large, pictures)
    with pytest.raises(ModelError, match="does not fit its card"):
        try_backbone(path, replace(unit, embedding_width=7), pictures)
    with pytest.raises(InputError, match="too few images"):
        try_backbone(path, unit, pictures[:1])
    models.write_with_node(path, "Log")
    with pytest.raises(ModelError, match="not numbers"):
        try_backbone(path, unit, pictures)


@pytest.mark.slow
def test_adding_a_file(tmp_path: Path, pictures: tuple[Path, ...]) -> None:
    """Inspected, tried, kept with its figures; progress is reported step by step.

    The file may go afterwards.
    """
    path = models.write_vectors(tmp_path / "My net.onnx", side=models.SIDE)
    as_full_disk: list[Progress] = []
    added = add_file(
        path, chosen={"unit_length": False}, images=pictures, on_progress=as_full_disk.append
    )
    path.unlink()
    card = added.files.card
    assert (added.files.name, BackboneLibrary().names()) == ("My-net", ("My-net",))
    assert (card.input_side, card.embedding_width, card.output, card.unit_length) == (
        32,
        12,
        "embeddings",
        False,
    )
    assert card.temperature == pytest.approx(0.1 * added.trial.mean_length**2)
    assert card.figures["images_per_s_one_core"] == round(added.trial.images_per_s, 1)
    assert [progress.done for progress in as_full_disk] == [0, 1, 2, 3]
    assert not added.files.has_own_propagation


def test_external_data_becomes_part_of_the_file(tmp_path: Path, pictures: tuple[Path, ...]) -> None:
    """The library keeps one file that gives what the two gave."""
    path = models.write_external(tmp_path / "two.onnx")
    card = Preprocessing(input_side=models.SIDE).card("two", width=models.WIDTH)
    kept = BackboneLibrary().add(path, card).backbone
    images = np.random.default_rng(0).standard_normal((2, 3, 32, 32)).astype(np.float32)
    before = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(
        None, {"images": images}
    )
    (tmp_path / "weights.bin").unlink()
    after = onnxruntime.InferenceSession(str(kept), providers=["CPUExecutionProvider"]).run(
        None, {"images": images}
    )
    assert np.array_equal(before[0], after[0])
    assert np.array_equal(
        numpy_helper.to_array(onnx.load(str(kept)).graph.initializer[0]), models.weights()
    )
    assert sorted(each.name for each in kept.parent.iterdir()) == ["two.card.json", "two.onnx"]


@pytest.mark.skipif(os.name != "posix", reason="the limit on a file's size is POSIX")
def test_a_full_disk_while_external_data_is_put_in(tmp_path: Path) -> None:
    """Nothing is kept."""
    path = models.write_external(tmp_path / "two.onnx")
    card = Preprocessing(input_side=models.SIDE).card("two", width=models.WIDTH)
    with full_disk_after(700), pytest.raises(StorageError, match="cannot be saved"):
        BackboneLibrary().add(path, card)
    assert list(BackboneLibrary().folder.iterdir()) == []


def test_sample_photos_fill_up(tmp_path: Path, pictures: tuple[Path, ...]) -> None:
    """Where a project has too few images, the sample's stand in.

    Enough are enough, and missing ones are left out.
    """
    found = trial_images((*pictures[:1], tmp_path / "gone.png"), 3)
    assert found[0] == pictures[0]
    assert len(set(found)) == 3
    assert all(path.is_file() for path in found)
    assert trial_images(pictures, 3) == pictures[:3]


@pytest.mark.slow
def test_a_parent_that_dies_takes_the_child_along(tmp_path: Path) -> None:
    """An endless model does not outlive whoever wanted to know of it."""
    path = models.write_endless(tmp_path / "endless.onnx")
    process = subprocess.Popen(worker_command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with process:
        assert process.stdin is not None
        process.stdin.write(encode(1, ExamineFile(path, ROOMY)))
        process.stdin.close()
        assert process.wait(30) not in {0, -signal.SIGTERM}
