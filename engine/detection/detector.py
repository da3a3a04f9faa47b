"""A detector: a network that finds the things in pictures, on the CPU or a GPU."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, final

import numpy as np
import psutil
from numpy.typing import NDArray

from engine.arrays import Pixels
from engine.detection.category_names import read_names
from engine.detection.detections import CATEGORY, COLUMNS, SCORE, THRESHOLD, Candidates, Detection
from engine.detection.examining import examine_detector
from engine.detection.letterbox import Letterbox
from engine.detection.messages import DetectorFacts
from engine.detection.output_forms import decoded
from engine.detection.picture_input import fed, trial_size
from engine.errors import ModelError, UsageError
from engine.events import CancelToken
from engine.file_parts import MOST_BOXES
from engine.images.decode import ImageDecoder
from engine.runtime.backbone import DeviceFallback
from engine.runtime.devices.facts import AUTO
from engine.runtime.devices.settings import batch_for, provider_options
from engine.runtime.providers import CPU_CHOICE, ProviderChoice, choose_providers
from engine.runtime.sessions import Run, open_session, run_session, usable_cores
from engine.texts import Message

T = TypeVar("T")

_LEAST_THRESHOLD = 0.01  # below it detectors give thousands of boxes for each picture
_NOTHING = -1.0  # score of a row that holds no box
_COPIES_BYTES = 3 * 4 * 64
"""Of a pixel of the input: activations, as 64 float32 copies. As `batch_for`."""
_MEMORY_SHARE = 0.25  # of the free memory, for runs side by side on the CPU


class LetterboxedPicture(NamedTuple):
    """A picture as a detector takes it."""

    pixels: Pixels  # (height, width, 3) RGB
    letterbox: Letterbox


@final
class ObjectDetector:
    """An opened detector. `detect` may be called from several threads at once.

    On the CPU runs go side by side, each on its share of the cores, as many as their memory
    permits.

    Args:
        facts: of the file, as `examine_detector` found them.
        threshold: least score of a detection.

    Raises:
        ModelError: it cannot be opened.
        UsageError: the threshold cannot be used.
    """

    def __init__(
        self,
        model: Path,
        facts: DetectorFacts,
        choice: ProviderChoice = CPU_CHOICE,
        *,
        threshold: float = THRESHOLD,
    ) -> None:
        if not _LEAST_THRESHOLD <= threshold <= 1:
            raise UsageError(
                "the threshold cannot be used",
                expected="a number from {least:g} to 1",
                found=f"{threshold:g}",
                least=_LEAST_THRESHOLD,
            )
        self.facts = facts
        self.threshold = threshold
        self._choice = choice
        self._model = model
        width, height = facts.takes.size
        cores = usable_cores()
        self.runs_at_once = 1 if choice.is_gpu else min(cores, _runs_in_memory(width * height))
        is_batched = facts.takes.takes_batches and choice.is_gpu
        self.batch_size = (
            batch_for(choice.free_bytes, max(width, height), choice.settings) if is_batched else 1
        )
        self._network = self._opened(cores // self.runs_at_once)

    @property
    def device_name(self) -> str:
        """Where it runs, for people; the CPU after a GPU failed."""
        return CPU_CHOICE.device_name if self._network.has_fallen_back else self._choice.device_name

    @property
    def notice(self) -> str:
        """A notice for the user, such as that the CPU replaces a GPU that failed; else empty."""
        return self._network.notice

    @property
    def reason(self) -> str:
        """Why a GPU was not chosen; empty when one was, or the CPU was requested."""
        return self._choice.reason

    @property
    def is_on_gpu(self) -> bool:
        return self._choice.is_gpu and not self._network.has_fallen_back

    def letterboxed(self, image: ImageDecoder) -> LetterboxedPicture:
        """Decode an image to the network's input size; raises `ImageError`."""
        return self.letterboxed_of(image.within(max(self.facts.takes.size)))

    def letterboxed_of(self, pixels: Pixels) -> LetterboxedPicture:
        """An upright picture (H, W, 3) uint8 RGB as the network takes it."""
        height, width = pixels.shape[:2]
        letterbox = Letterbox.of((width, height), self.facts.takes.size, self.facts.takes.stride)
        return LetterboxedPicture(letterbox.filled(pixels), letterbox)

    def detect(self, pictures: Sequence[Pixels]) -> list[list[Detection]]:
        """Detections in upright pictures (H, W, 3) uint8 RGB of any sizes; see `detect_in`."""
        canvases = [self.letterboxed_of(pixels) for pixels in pictures]
        found = dict(self.in_batches(enumerate(canvases)))
        return [found[place] for place in range(len(canvases))]

    def in_batches(
        self, canvases: Iterable[tuple[T, LetterboxedPicture]]
    ) -> Iterator[tuple[T, list[Detection]]]:
        """Detections in each canvas, in any order; those of one size run together."""
        waiting: dict[tuple[int, int], list[tuple[T, LetterboxedPicture]]] = {}
        for each in canvases:
            batch = waiting.setdefault(each[1].letterbox.size, [])
            batch.append(each)
            if len(batch) >= self.batch_size:
                yield from self._batch(waiting.pop(each[1].letterbox.size))
        for batch in waiting.values():
            yield from self._batch(batch)

    def _batch(
        self, batch: Sequence[tuple[T, LetterboxedPicture]]
    ) -> Iterator[tuple[T, list[Detection]]]:
        found = self.detect_in([canvas for _, canvas in batch])
        yield from zip((each for each, _ in batch), found, strict=True)

    def detect_in(self, canvases: Sequence[LetterboxedPicture]) -> list[list[Detection]]:
        """Detections in canvases of one size, each best first, at most `MOST_BOXES`.

        Raises:
            ModelError: the network fails, or its outputs have another form than before.
        """
        found = self._network(np.stack([canvas.pixels for canvas in canvases]))
        return [
            list(self._detections(candidates, canvas.letterbox))
            for candidates, canvas in zip(found, canvases, strict=True)
        ]

    def _detections(self, candidates: Candidates, letterbox: Letterbox) -> Iterator[Detection]:
        for row in candidates[candidates[:, SCORE] >= self.threshold]:
            if (box := letterbox.box(row[:4])) is not None:
                yield Detection(
                    box, min(1.0, float(row[SCORE])), self.facts.category(int(row[CATEGORY]))
                )

    def _opened(self, threads: int) -> DeviceFallback:
        """The network on the chosen device, or on the CPU where an automatic choice fails."""
        choice = self._choice
        if not choice.is_gpu:
            return DeviceFallback(self._finder_of(open_session(self._model, threads=threads)))

        def open_cpu() -> Run:
            return self._finder_of(open_session(self._model, threads=usable_cores()))

        try:
            options = provider_options(choice.provider, choice.settings)
            run = self._finder_of(
                open_session(self._model, choice.provider, provider_options=options)
            )
            wide, high = trial_size(self.facts.takes)
            run(np.zeros((1, high, wide, 3), dtype=np.uint8))
        except ModelError as error:
            if choice.is_explicit:
                raise
            why = {"device": choice.device_name, "why": error.found or error.what}
            notice = Message("{device} cannot run this network ({why}); the CPU is used", why)
            self._choice = CPU_CHOICE
            return DeviceFallback(open_cpu(), notice=notice)
        return DeviceFallback(run, open_cpu, device_name=choice.device_name)

    def _finder_of(self, session: Any) -> Run:
        """From canvases (n, height, width, 3) to candidates (n, `MOST_BOXES`, 6), padded."""
        form, takes = self.facts.form, self.facts.takes

        def find_candidates(canvases: NDArray[Any]) -> NDArray[Any]:
            found = np.full((len(canvases), MOST_BOXES, COLUMNS), _NOTHING, dtype=np.float32)
            step = len(canvases) if takes.takes_batches else 1
            for start in range(0, len(canvases), step):
                some = canvases[start : start + step]
                outputs = run_session(session, fed(takes, some), list(form.outputs))
                size = some.shape[2], some.shape[1]
                rows = decoded(form, outputs, count=len(some), size=size, least=self.threshold)
                for place, candidates in enumerate(rows, start):
                    found[place, : len(candidates)] = candidates
            return found

        return find_candidates


def open_detector(
    path: Path,
    *,
    device: str = AUTO,
    threshold: float = THRESHOLD,
    names: Path | None = None,
    side: int = 0,
    value_scale: float = 0.0,
    cancel: CancelToken | None = None,
) -> ObjectDetector:
    """Examine a file in a process of its own, and open it.

    Args:
        path: an ONNX file.
        device: one of `DEVICES`.
        threshold: least score of a detection.
        names: a text file of its categories, one a line; by default those in the file itself.
        side: longest side of pictures where any size will do; 0 for the one that the file names, or
            the usual.
        value_scale: largest number of a pixel, such as 255; 0 for the usual, 1.

    Raises:
        ModelError: it is not a detector of a known form, and why.
        UsageError: the device or the threshold cannot be used.
        InputError, StorageError: the file of names cannot be used.
        Cancelled: stopped by the person.
    """
    choice = choose_providers(device)
    listed = read_names(names) if names else ()
    facts = examine_detector(path, names=listed, side=side, value_scale=value_scale, cancel=cancel)
    return ObjectDetector(path, facts, choice, threshold=threshold)


def _runs_in_memory(pixels: int) -> int:
    """Runs that fit into the memory at once, at least one."""
    return max(1, int(_MEMORY_SHARE * psutil.virtual_memory().available / (pixels * _COPIES_BYTES)))
