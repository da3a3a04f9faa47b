import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import torch

from engine.collection.models import find_model
from research import data_loader_peer
from research.data_loader_peer import embed_with_data_loader, open_data_loader
from tests.support.backbones import tiny_card, write_tiny_backbone
from tests.support.images import write_jpeg


class Counting(torch.nn.Module):
    """Records its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[torch.Tensor] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Mean colour of (B, 3, side, side)."""
        self.batches.append(images)
        return images.mean(dim=(2, 3))


def test_every_file_goes_through_the_network(tmp_path: Path) -> None:
    """In batches of 32, normalised as on the card, in the order of the files."""
    paths = [str(write_jpeg(tmp_path / f"{number}.jpg", seed=number)) for number in range(40)]
    network, card = Counting(), tiny_card()
    assert embed_with_data_loader(network, card, paths, workers=0) > 0
    assert [tuple(batch.shape) for batch in network.batches] == [(32, 3, 32, 32), (8, 3, 32, 32)]
    back = (
        network.batches[0] * torch.tensor(card.std)[:, None, None]
        + torch.tensor(card.mean)[:, None, None]
    )
    assert -1e-6 <= float(back.min()) < float(back.max()) <= 1 + 1e-6


@pytest.mark.slow
def test_it_embeds_as_often_as_it_is_asked(tmp_path: Path) -> None:
    """In a process of its own, with the bundled network."""
    paths = [write_jpeg(tmp_path / f"{number}.jpg", seed=number) for number in range(4)]
    with open_data_loader(find_model(), paths) as measure:
        assert measure is not None
        assert measure() > 0
        assert measure() > 0


@pytest.mark.slow
def test_a_backbone_that_torch_cannot_compute_has_no_peer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The message has the reason."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    model = onnx.load(str(tmp_path / "tiny.onnx"))
    model.graph.node[0].op_type = "Det"
    onnx.save(model, str(tmp_path / "tiny.onnx"))
    with open_data_loader(find_model(str(tmp_path / "tiny.onnx")), []) as measure:
        assert measure is None
    assert "training cannot go through this network" in capfd.readouterr().err


def test_a_peer_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own error is reported at once, not replaced or delayed by the peer."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    monkeypatch.setattr(data_loader_peer, "_SECONDS_TO_END", 0)
    waits = "import threading; print('ready', flush=True); threading.Event().wait()"
    started = subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda _command, **options: started([sys.executable, "-c", waits], **options),
    )
    with pytest.raises(KeyError), open_data_loader(find_model(str(tmp_path / "tiny.onnx")), []):
        raise KeyError
