import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from engine.errors import FormatError, ModelError, StorageError
from engine.new_file import DRAFT_SUFFIX
from engine.training import checkpoints
from engine.training.checkpoints import Checkpoint
from engine.training.curve import TrainingPoint
from tests.support.full_disk import full_disk_after


def network(width: int = 3) -> nn.Sequential:
    """A convolution with a batch norm, channels last as in the training loop."""
    module = nn.Sequential(nn.Conv2d(3, width, 3), nn.BatchNorm2d(width))
    return module.to(memory_format=torch.channels_last)


def adam(module: nn.Module) -> torch.optim.Adam:
    """The optimiser of the training loop."""
    return torch.optim.Adam(module.parameters(), 0.1, fused=True)


def steps(module: nn.Module, optimizer: torch.optim.Optimizer, count: int) -> None:
    """Train a little on random images."""
    for number in range(count):
        images = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(number))
        torch.autograd.backward(
            module(images).square().mean() + (module(images) * images.sum()).mean()
        )
        optimizer.step()
        optimizer.zero_grad()


def trained_checkpoint(width: int = 3) -> Checkpoint:
    """A checkpoint after three steps, with a curve."""
    torch.manual_seed(0)
    module = network(width)
    optimizer = adam(module)
    steps(module, optimizer, 3)
    return checkpoints.capture(
        module,
        optimizer,
        iteration=3,
        curve=(TrainingPoint(1, 1.5), TrainingPoint(2, 0.1 + 0.2, accuracy=0.25)),
        pending_losses=(1 / 3,),
        settings={"seed": 1, "learning_rate": 1e-3, "device": "cpu", "compiles": False},
    )


def test_everything_comes_back(tmp_path: Path) -> None:
    """Tensors, curve, pending losses and settings, to the last digit."""
    checkpoint = trained_checkpoint()
    checkpoints.write(checkpoint, tmp_path / "new" / "checkpoint")
    found = checkpoints.read(tmp_path / "new" / "checkpoint")
    assert found.iteration == 3
    assert found.curve == checkpoint.curve
    assert found.pending_losses == checkpoint.pending_losses
    assert found.settings == checkpoint.settings
    assert found.tensors.keys() == checkpoint.tensors.keys()
    assert all(
        torch.equal(found.tensors[name], value) for name, value in checkpoint.tensors.items()
    )


def test_no_pickle(tmp_path: Path) -> None:
    """The file is safetensors: a header of JSON, then numbers; opening it can run nothing."""
    path = tmp_path / "checkpoint"
    checkpoints.write(trained_checkpoint(), path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    assert header["__metadata__"]["format"] == checkpoints.FORMAT
    assert "model.0.weight" in header
    assert "optimizer.0.weight.exp_avg" in header
    with safe_open(path, framework="pt") as file:
        assert file.get_tensor("model.0.weight").shape == (3, 3, 3, 3)


def test_going_on_is_bit_for_bit_the_same(tmp_path: Path) -> None:
    """Weights and moments return in the layout that fused Adam walks through.

    Three steps and two are five.
    """
    torch.manual_seed(0)
    whole = network()
    optimizer = adam(whole)
    steps(whole, optimizer, 3)
    checkpoints.write(
        checkpoints.capture(
            whole, optimizer, iteration=3, curve=(), pending_losses=(), settings={}
        ),
        tmp_path / "c",
    )
    resumed = network()
    again = adam(resumed)
    checkpoint = checkpoints.read(tmp_path / "c")
    checkpoints.restore_module(resumed, checkpoint)
    checkpoints.restore_optimizer(resumed, again, checkpoint)
    for module, its_optimizer in ((whole, optimizer), (resumed, again)):
        steps(module, its_optimizer, 2)
    assert all(
        torch.equal(value, resumed.state_dict()[name]) for name, value in whole.state_dict().items()
    )
    for mine, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        for name, value in optimizer.state[mine].items():
            assert torch.equal(value, again.state[other][name])


def test_an_untrained_optimizer_is_kept(tmp_path: Path) -> None:
    """Before the first step Adam has no moments, and a parameter without gradient never has."""
    module = network()
    checkpoint = checkpoints.capture(
        module, adam(module), iteration=0, curve=(), pending_losses=(), settings={}
    )
    checkpoints.write(checkpoint, tmp_path / "c")
    optimizer = adam(module)
    checkpoints.restore_optimizer(module, optimizer, checkpoints.read(tmp_path / "c"))
    assert dict(optimizer.state) == {}


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_torn_file(tmp_path: Path, share: float) -> None:
    """Wherever it was cut off, the file is refused with its path."""
    path = tmp_path / "checkpoint"
    checkpoints.write(trained_checkpoint(), path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(
        FormatError, match=r"the checkpoint cannot be read: expected a safetensors file.*checkpoint"
    ):
        checkpoints.read(path)


def test_missing_file(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(FormatError, match=r"cannot be read.*nowhere"):
        checkpoints.read(tmp_path / "nowhere")


def test_foreign_file(tmp_path: Path) -> None:
    """A safetensors file of another program, and bytes of no format at all."""
    save_file({"weight": torch.zeros(3)}, tmp_path / "foreign", {"format": "pt"})
    with pytest.raises(
        FormatError,
        match=rf"not a training checkpoint: expected “{checkpoints.FORMAT}”, "
        "found .*foreign with “pt”",
    ):
        checkpoints.read(tmp_path / "foreign")
    save_file({"weight": torch.zeros(3)}, tmp_path / "bare")
    with pytest.raises(FormatError, match=r"found .*bare with “”"):
        checkpoints.read(tmp_path / "bare")
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(FormatError, match="cannot be read"):
        checkpoints.read(tmp_path / "noise")


def test_another_architecture() -> None:
    """The error names the first weight that differs, and both shapes.

    The module stays as it was.
    """
    module = network(5)
    before = module.state_dict()["0.weight"].clone()
    with pytest.raises(
        ModelError,
        match=r"of another architecture: expected 0\.bias \(5,\), found \(3,\)\. "
        "Train with the settings of",
    ):
        checkpoints.restore_module(module, trained_checkpoint(3))
    assert torch.equal(module.state_dict()["0.weight"], before)


def test_a_layer_more_or_less() -> None:
    """A weight that only one of the two has is named."""
    more = nn.Sequential(*network(), nn.Linear(2, 2))
    with pytest.raises(ModelError, match=r"expected 2\.bias \(2,\), found not there"):
        checkpoints.restore_module(more, trained_checkpoint())
    with pytest.raises(ModelError, match=r"expected 1\.bias not there, found \(3,\)"):
        checkpoints.restore_module(nn.Sequential(network()[0]), trained_checkpoint())


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_full_disk(tmp_path: Path, share: float) -> None:
    """The error says that the old checkpoint is there.

    So it is, whole, with no rubbish beside it.
    """
    path = tmp_path / "checkpoint"
    checkpoints.write(trained_checkpoint(), path)
    before = path.read_bytes()
    with (
        full_disk_after(int(share * len(before))),
        pytest.raises(StorageError, match=r"cannot be written.*the checkpoint before is still"),
    ):
        checkpoints.write(trained_checkpoint(4), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    checkpoints.write(trained_checkpoint(4), path)
    assert checkpoints.read(path).tensors["model.0.weight"].shape == (4, 3, 3, 3)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    """A folder that cannot be made is the storage's fault."""
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StorageError, match=r"cannot be written: found .*run"):
        checkpoints.write(trained_checkpoint(), tmp_path / "run" / "checkpoint")


def test_a_torn_temporary_file_does_no_harm(tmp_path: Path) -> None:
    """What a killed process left behind is not read, and the next checkpoint replaces it."""
    path = tmp_path / "checkpoint"
    checkpoints.write(trained_checkpoint(), path)
    torn = tmp_path / f".torn{DRAFT_SUFFIX}"
    torn.write_bytes(path.read_bytes()[:1000])
    assert checkpoints.read(path).iteration == 3
    checkpoints.write(trained_checkpoint(), path)
    assert not torn.exists()
