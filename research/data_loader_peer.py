"""Embed a folder by torch's DataLoader over Pillow and the network in float32 on all cores.

The peer of `protoleaf benchmark embed`. It runs in a process of its own, because torch must not be
loaded where the pipeline is timed, and embeds all files once for every line on its standard input.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from engine.collection.models import ModelFiles
from engine.errors import ModelError
from engine.runtime.sessions import usable_cores
from research.benchmarks.embedding import Peer

BATCH = 32
_SECONDS_TO_END = 5


@contextmanager
def open_data_loader(model: ModelFiles, paths: Sequence[Path]) -> Iterator[Peer | None]:
    """Start the peer; it ends with the context.

    Args:
        model: a LeafNet, the only one that can be converted back to a torch module.
        paths: image files.

    Yields:
        Embeds all files once and gives the images a second; None for a backbone that is no LeafNet.
    """
    command = [sys.executable, "-m", "research.data_loader_peer", str(model.backbone)]
    with subprocess.Popen(  # noqa: S603 (our own program)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        asks, answers = child.stdin, child.stdout

        def measure() -> float:
            asks.write("again\n")
            asks.flush()
            return float(answers.readline())

        asks.write("".join(f"{path}\n" for path in paths) + "\n")
        asks.flush()
        try:
            yield measure if answers.readline().strip() == "ready" else None
        finally:
            _end(child)


def _end(child: "subprocess.Popen[str]") -> None:
    """Let the peer exit, or end it, without hiding an error on our side."""
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.close()
    try:
        child.wait(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()


def embed_with_data_loader(network: Any, card: Any, paths: Sequence[str], *, workers: int) -> float:
    """Embed files with torch in the usual way; return images a second.

    Args:
        network: torch module, from normalised images (B, 3, side, side) float32 to embeddings.
        card: `BackboneCard` of the network.
        paths: image files.
        workers: processes that decode.
    """
    import torch
    from torch.utils.data import DataLoader

    started_s = time.perf_counter()
    with torch.inference_mode():
        loader: DataLoader[Any] = DataLoader(
            _Photos(paths, card),  # type: ignore[arg-type]
            batch_size=BATCH,
            num_workers=workers,
        )
        count = sum(len(network(batch)) for batch in loader)
    return count / (time.perf_counter() - started_s)


class _Photos:
    """A data set for `DataLoader`: files as normalised tensors (3, side, side)."""

    def __init__(self, paths: Sequence[str], card: Any) -> None:
        self._paths = paths
        self._card = card

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, position: int) -> Any:
        import numpy as np
        import torch
        from PIL import Image, ImageOps

        side = self._card.input_side
        with Image.open(self._paths[position]) as image:
            square = ImageOps.fit(image.convert("RGB"), (side, side), Image.Resampling.BILINEAR)
        values = torch.from_numpy(np.array(square)).permute(2, 0, 1).float() / 255
        mean, std = torch.tensor(self._card.mean), torch.tensor(self._card.std)
        return (values - mean[:, None, None]) / std[:, None, None]


def _answer(model: Path) -> None:
    """Read file names up to an empty line, print "ready", then a rate for every input line."""
    import torch

    from engine.model.backbone import UnitEmbedding
    from engine.model_card import read_card
    from engine.training.thawed.network import thawed

    lines = iter(sys.stdin.readline, "")
    paths = [line.rstrip("\n") for line in iter(lambda: next(lines), "\n")]
    card, cores = read_card(model), usable_cores()
    torch.set_num_threads(cores)
    try:
        network = UnitEmbedding(thawed(model, card.output)).eval()
    except ModelError as error:
        sys.stderr.write(f"no peer: {error}\n")
        return
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for _line in lines:
        sys.stdout.write(f"{embed_with_data_loader(network, card, paths, workers=cores)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _answer(Path(sys.argv[1]))
