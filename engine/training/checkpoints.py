"""Checkpoints: tensors and numbers only, in safetensors files that are replaced atomically."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from engine.errors import FormatError, ModelError, found_at
from engine.full_disk import storage_error
from engine.new_file import clear_abandoned_drafts, private_folder, write_file
from engine.training.curve import TrainingPoint

FORMAT = "protoleaf training checkpoint 1"
MODEL = "model."
OPTIMIZER = "optimizer."


@dataclass(frozen=True)
class Checkpoint:
    """Everything that a training needs to resume to the same numbers."""

    iteration: int  # finished iterations
    # Of the module (prefix `model.`) and the optimiser (prefix `optimizer.`)
    tensors: Mapping[str, Tensor]
    curve: tuple[TrainingPoint, ...]  # points so far
    pending_losses: tuple[float, ...]  # losses since the last point
    settings: Mapping[str, Any]  # training settings, as plain values


def capture(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    iteration: int,
    curve: tuple[TrainingPoint, ...],
    pending_losses: tuple[float, ...],
    settings: Mapping[str, Any],
) -> Checkpoint:
    """Collect the state after `iteration` finished iterations; tensors are shared, not copied."""
    tensors = {MODEL + name: value for name, value in module.state_dict().items()}
    for name, parameter in module.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{OPTIMIZER}{name}.{key}"] = value
    return Checkpoint(iteration, tensors, curve, pending_losses, settings)


def write(checkpoint: Checkpoint, path: Path) -> None:
    """Write a checkpoint; at any moment the file is either the old one or the whole new one.

    Raises:
        StorageError: the disk is full or the folder refuses the file; an older checkpoint stays.
    """
    notes = {
        "format": FORMAT,
        "iteration": str(checkpoint.iteration),
        "curve": json.dumps([asdict(point) for point in checkpoint.curve]),
        "pending_losses": json.dumps(checkpoint.pending_losses),
        "settings": json.dumps(dict(checkpoint.settings)),
    }
    tensors = {
        name: value.detach().cpu().contiguous() for name, value in checkpoint.tensors.items()
    }
    try:
        clear_abandoned_drafts(private_folder(path.parent))
        write_file(path, save(tensors, notes))
    except (OSError, SafetensorError) as error:
        raise storage_error(
            path,
            error,
            "the checkpoint cannot be written",
            "free some space or choose another folder; the checkpoint before is still there",
        ) from error


def read(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        FormatError: the file is missing, torn, or no checkpoint of ours.
    """
    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise FormatError(
            "the checkpoint cannot be read",
            expected="a safetensors file",
            found=found_at(path, error),
        ) from error
    if notes.get("format") != FORMAT:
        raise FormatError(
            "this is not a training checkpoint",
            expected=f"“{FORMAT}”",
            found="{path} with “{found_format}”",
            path=path,
            found_format=notes.get("format", ""),
        )
    return Checkpoint(
        iteration=int(notes["iteration"]),
        tensors=tensors,
        curve=tuple(TrainingPoint(**point) for point in json.loads(notes["curve"])),
        pending_losses=tuple(json.loads(notes["pending_losses"])),
        settings=json.loads(notes["settings"]),
    )


def restore_module(module: nn.Module, checkpoint: Checkpoint) -> None:
    """Give a module the state of a checkpoint.

    Raises:
        ModelError: the checkpoint is of another architecture.
    """
    found = {
        name.removeprefix(MODEL): value
        for name, value in checkpoint.tensors.items()
        if name.startswith(MODEL)
    }
    _require_same_architecture(module.state_dict(), found)
    module.load_state_dict(found)


def restore_optimizer(
    module: nn.Module, optimizer: torch.optim.Optimizer, checkpoint: Checkpoint
) -> None:
    """Give an optimiser of the module's parameters the state of a checkpoint.

    Moments get the memory layout of their weight, which a checkpoint does not keep: PyTorch's fused
    Adam reads both side by side in memory.
    """
    state = optimizer.state_dict()
    numbers = {
        id(parameter): number
        for number, parameter in enumerate(optimizer.param_groups[0]["params"])
    }
    for name, parameter in module.named_parameters():
        prefix = f"{OPTIMIZER}{name}."
        values = {
            key.removeprefix(prefix): torch.empty_like(parameter, device="cpu").copy_(value)
            if value.ndim
            else value
            for key, value in checkpoint.tensors.items()
            if key.startswith(prefix)
        }
        if values:
            state["state"][numbers[id(parameter)]] = values
    optimizer.load_state_dict(state)


def _require_same_architecture(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    ours = {name: tuple(value.shape) for name, value in expected.items()}
    theirs = {name: tuple(value.shape) for name, value in found.items()}
    if ours == theirs:
        return
    name = min(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    raise ModelError(
        "the checkpoint is of another architecture",
        expected=f"{name} {ours.get(name, 'not there')}",
        found=f"{theirs.get(name, 'not there')}",
        remedy="train with the settings of the checkpoint, or start in an empty folder",
    )
