"""A backbone file as a function from images to embeddings, `f` in the paper."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats, Pixels
from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.new_folder import scratch_folder
from engine.runtime.backbone_input import InputOutput, Preparation, input_output, pooled
from engine.runtime.devices.facts import CUDA_PROVIDER
from engine.runtime.devices.reasons import is_out_of_memory
from engine.runtime.devices.settings import DeviceSettings, batch_for, provider_options
from engine.runtime.eight_bit import agreement, check_companion, check_photos, companion_of
from engine.runtime.half_precision import write_half
from engine.runtime.pixel_input import PIXELS, write_with_pixels
from engine.runtime.providers import CPU_CHOICE, ProviderChoice
from engine.runtime.sessions import BoundRuns, Run, open_session, plain_run, usable_cores
from engine.texts import Message

_RUN_PIXELS = 4 * 224 * 224
"""Pixels in one run on the CPU. Chosen: activations fit a cache of 1 MiB; twice as many take 12%
more."""
_DECODERS_AHEAD = 2
"""Threads beyond the cores, so that cores decode while others wait for the GPU."""


class BackboneSession:
    """An opened backbone. `embed` may be called from several threads at once.

    On the CPU each run uses one core, and `parallel_runs` of them at once use them all: that is a
    quarter to a half faster than splitting every convolution between the cores, because no core
    ever waits for another.

    Args:
        threads: cores to use; all that the process may use when None.
    """

    def __init__(
        self, model: Path, card: BackboneCard, choice: ProviderChoice, threads: int | None = None
    ) -> None:
        self.card = card
        self._choice = choice
        # threads that keep it busy
        self.parallel_runs = (threads or usable_cores()) + (_DECODERS_AHEAD if choice.is_gpu else 0)
        companion = companion_of(model)
        if companion is not None:
            check_companion(companion, model, card)
        # The file's eight-bit companion runs instead of it, on every device
        self.is_eight_bit = companion is not None
        opened = open_runs(companion or model, card, choice, folds_weights=self.is_eight_bit)
        self.batch_size = opened.batch  # images that it runs best with
        self._ends = opened.ends
        self._network = opened.run
        self.embed(np.zeros((1, card.input_side, card.input_side, 3), dtype=np.uint8))

    @property
    def device_name(self) -> str:
        """Where it runs, for people; the CPU after a GPU failed."""
        return CPU_CHOICE.device_name if self._network.has_fallen_back else self._choice.device_name

    @property
    def is_on_gpu(self) -> bool:
        return self._choice.is_gpu and not self._network.has_fallen_back

    @property
    def notice(self) -> str:
        """A notice for the user, such as that the CPU replaces a GPU that failed; else empty."""
        return self._network.notice

    @property
    def reason(self) -> str:
        """Why a GPU was not chosen; empty when one was, or the CPU was requested."""
        return self._choice.reason

    def embed(self, images: Pixels) -> Floats:
        """Embed (B, side, side, 3) uint8 RGB: (B, embedding width) float32, all finite.

        Raises:
            ModelError: the model fails, or its output is not what its card promises.
            ValueError: `images` has another shape or dtype.
        """
        side = self.card.input_side
        if images.shape[1:] != (side, side, 3) or images.dtype != np.uint8:
            raise ValueError(
                f"expected uint8 images of shape (B, {side}, {side}, 3), found {images.shape}"
            )
        most = self._ends.most_images or (
            self.batch_size if self._choice.is_gpu else max(1, _RUN_PIXELS // side**2)
        )
        parts = [self._run(images[start : start + most]) for start in range(0, len(images), most)]
        return (
            np.concatenate(parts)
            if parts
            else np.zeros((0, self.card.embedding_width), dtype=np.float32)
        )

    def _run(self, images: Pixels) -> Floats:
        output = pooled(self._network(images), self.card)
        expected = (len(images), self.card.embedding_width)
        if output.shape != expected or output.dtype != np.float32:
            raise ModelError(
                "the backbone's output does not fit its card",
                expected="float32 of shape {shape}",
                found="{kind} of shape {shape_2}",
                shape=expected,
                kind=output.dtype,
                shape_2=output.shape,
            )
        if not np.isfinite(output).all():
            raise ModelError(
                "the backbone gives values that are not numbers", remedy="export it again"
            )
        return output


CPU_BATCH = 8
"""Images in one run on the CPU: one core is as fast with 8 as with 32, at a quarter of the
memory."""
_log = logging.getLogger(__name__)


@final
class DeviceFallback:
    """Runs batches on a device, and falls back when it fails. Safe to call from several threads.

    `open_cpu` makes what runs on the CPU instead; None where the device is the CPU.
    """

    def __init__(
        self,
        run: Run,
        open_cpu: Callable[[], Run] | None = None,
        *,
        device_name: str = "",
        can_shrink: bool = True,
        notice: str = "",
    ) -> None:
        self.notice = notice  # for the person; empty while all is well
        self._run = run
        self._open_cpu = open_cpu
        self._device_name = device_name
        self._can_shrink = can_shrink
        self._most: int | None = None
        self._lock = threading.Lock()

    @property
    def has_fallen_back(self) -> bool:
        return self.notice != "" and self._open_cpu is None

    def __call__(self, batch: NDArray[Any]) -> NDArray[Any]:
        """Run a batch, in smaller ones if needed; raises `ModelError` if the CPU fails, too."""
        parts: list[NDArray[Any]] = []
        start = 0
        while start < len(batch):
            rows = batch[start : start + (self._most or len(batch))]
            result = self._attempt(rows)
            if result is not None:
                parts.append(result)
                start += len(rows)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _attempt(self, rows: NDArray[Any]) -> NDArray[Any] | None:
        """Run rows; None when the device failed and something was changed for the next attempt."""
        run = self._run
        try:
            return run(rows)
        except ModelError as error:
            with self._lock:
                if run is self._run:  # else another thread gave way meanwhile
                    self._give_way(len(rows), error)
            return None

    def _give_way(self, rows: int, error: ModelError) -> None:
        if self._open_cpu is None:
            raise error
        is_memory = is_out_of_memory(str(error))
        if is_memory and self._can_shrink and rows > 1:
            self._most = min(self._most or rows, max(1, rows // 2))
            return
        why = error.found or error.what
        if is_memory and self._can_shrink:
            why = Message("its memory is full, even for one image")
        self._run, self._open_cpu = self._open_cpu(), None
        # A GPU's batch, on every core at once, would be too much for the memory
        self._most = CPU_BATCH
        self.notice = Message(
            "{device} failed ({why}); continuing on the CPU",
            {"device": self._device_name, "why": why},
        )
        _log.info(self.notice)


DEVICE_AGREEMENT = 0.999
"""Smallest cosine of a device's embedding and the CPU's, for half precision or experimental
ones."""
_TRIAL_PHOTOS = 4  # that a device is tried on. Chosen: more than one, and quick.
_CUDA_MEMORY = "cuda"  # ONNX Runtime's name of it


@dataclass(frozen=True)
class OpenedRuns:
    """An opened network."""

    ends: InputOutput
    run: DeviceFallback  # from pixels (B, side, side, 3) uint8 to the network's output
    batch: int  # images that it runs best with


def open_runs(
    network: Path, card: BackboneCard, choice: ProviderChoice, *, folds_weights: bool
) -> OpenedRuns:
    """Open a network on the chosen device, or on the CPU where an automatic choice fails.

    Raises:
        ModelError: the network cannot be opened or run, or does not fit its card.
    """
    if not choice.is_gpu:
        return _on_cpu(network, card)
    try:
        return _on_device(network, card, choice, folds_weights=folds_weights)
    except ModelError as error:
        if choice.is_explicit:
            raise
        why = {"device": choice.device_name, "why": error.found or error.what}
        notice = Message("{device} cannot run this network ({why}); the CPU is used", why)
        # When the network is at fault, this fails, too, with the reason.
        return _on_cpu(network, card, notice)


def _on_cpu(model: Path, card: BackboneCard, notice: str = "") -> OpenedRuns:
    session = open_session(model)
    ends = input_output(session, card)
    run = DeviceFallback(_cpu_run(session, card, ends), notice=notice)
    return OpenedRuns(ends, run, CPU_BATCH)


def _cpu_run(session: Any, card: BackboneCard, ends: InputOutput) -> Run:
    return _prepared(plain_run(session, ends.input_name, ends.output_name), card, ends)


def _prepared(run: Run, card: BackboneCard, ends: InputOutput) -> Run:
    """A run that prepares pixels before."""
    preparation = Preparation(card)
    return lambda pixels: run(preparation.prepare(pixels).astype(ends.input_type, copy=False))


def _on_device(
    model: Path, card: BackboneCard, choice: ProviderChoice, *, folds_weights: bool
) -> OpenedRuns:
    settings = choice.settings
    is_half = settings.half and choice.provider == CUDA_PROVIDER and not folds_weights
    ends = input_output(open_session(model), card)
    batch = ends.most_images or batch_for(choice.free_bytes, card.input_side, settings)
    run, can_shrink = _device_run(
        model, card, ends, batch, choice, folds_weights=folds_weights, is_half=is_half
    )
    photos = check_photos(card, min(_TRIAL_PHOTOS, batch))
    run(photos[:1])

    def open_cpu() -> Run:
        return _cpu_run(open_session(model, CPU_CHOICE.provider), card, ends)

    if is_half or choice.is_experimental:
        found = agreement(run(photos), open_cpu()(photos))
        if found < DEVICE_AGREEMENT and is_half:
            whole = replace(choice, settings=replace(settings, half=False))
            return _on_device(model, card, whole, folds_weights=folds_weights)
        if found < DEVICE_AGREEMENT:
            raise ModelError(
                "the embeddings of this device differ from the CPU's",
                expected="a cosine of {least}",
                found=f"{found:.3f}",
                remedy="use the device auto or cpu",
                least=DEVICE_AGREEMENT,
            )
    fallback = DeviceFallback(run, open_cpu, device_name=choice.device_name, can_shrink=can_shrink)
    return OpenedRuns(ends, fallback, batch)


def _device_run(
    model: Path,
    card: BackboneCard,
    ends: InputOutput,
    batch: int,
    choice: ProviderChoice,
    *,
    folds_weights: bool,
    is_half: bool,
) -> tuple[Run, bool]:
    """How a network is run on a device, and whether with smaller batches, too.

    By CUDA it takes pixels and has bound buffers, in half precision as its mixed form; experimental
    devices run one batch after the other.
    """
    options = provider_options(choice.provider, choice.settings)
    opened = partial(
        open_session,
        provider=choice.provider,
        provider_options=options,
        folds_weights=folds_weights,
    )
    if choice.provider != CUDA_PROVIDER:
        run = plain_run(opened(model), ends.input_name, ends.output_name, one_at_a_time=True)
        return _prepared(run, card, ends), True
    with scratch_folder() as folder:
        half, pixels = folder / "half.onnx", folder / model.name
        if is_half:
            write_half(model, half)
        network = half if is_half else model
        takes_pixels = write_with_pixels(network, pixels, card, ends)
        network = pixels if takes_pixels else network
        session = opened(network)
    name = PIXELS if takes_pixels else ends.input_name
    run = cuda_run(session, name, ends.output_name, batch, choice.settings)
    return run if takes_pixels else _prepared(run, card, ends), not choice.settings.cuda_graphs


def cuda_run(
    session: Any, input_name: str, output_name: str, batch: int, settings: DeviceSettings
) -> Run:
    """How a session is run by CUDA: with bound buffers, unless they are switched off."""
    is_fixed = settings.cuda_graphs
    if settings.io_binding or is_fixed:
        return BoundRuns(
            session, input_name, output_name, batch, memory=_CUDA_MEMORY, is_fixed=is_fixed
        )
    return plain_run(session, input_name, output_name)
