"""The measured networks: both bundled backbones, and a vision transformer of random weights."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.collection.models import find_model
from engine.model_card import BackboneCard
from engine.new_file import write_file
from engine.new_folder import ScratchFolder
from engine.runtime.providers import ProviderChoice, choose_providers
from research.gpu_report.rows import NotMeasuredError

if TYPE_CHECKING:
    import torch

FAST = "fast"
ACCURATE = "accurate"
VIT = "vit_small_patch16_224"
NETWORKS = (FAST, ACCURATE, VIT)
_SIDE = 224
_MEAN = (0.5, 0.5, 0.5)  # and deviation, of timm's vision transformers
_VIT_WIDTH = 384


@dataclass(frozen=True)
class Network:
    """An ONNX file and its card."""

    file: Path
    card: BackboneCard


@cache
def network(name: str) -> Network:
    """A network of `NETWORKS` as an ONNX file.

    Raises:
        ModelError: a bundled one is missing and cannot be created.
    """
    if name == VIT:
        return _exported_vit()
    from engine.backbones.model_files import backbone_of_word

    model = find_model(backbone_of_word(name))
    return Network(model.backbone, model.card)


@cache
def _scratch() -> ScratchFolder:
    return ScratchFolder()


def scratch_path() -> Path:
    """A folder for files of this process; see `clear_scratch`."""
    return _scratch().path


def clear_scratch() -> None:
    """Remove the folder."""
    _scratch().remove()


def vision_transformer() -> "torch.nn.Module":
    """ViT-S/16 of timm without its head, with random weights, in evaluation mode."""
    import timm
    import torch

    torch.manual_seed(0)
    made: torch.nn.Module = timm.create_model(VIT, pretrained=False, num_classes=0)
    return made.eval()


def _exported_vit() -> Network:
    """The vision transformer, exported as published networks are."""
    import torch

    from engine.training.onnx_conversion import ModelShape, to_onnx

    shape = ModelShape(("images",), ("embeddings",), ({0: "batch"},))
    with torch.no_grad():
        model = to_onnx(
            vision_transformer(), (torch.zeros(2, 3, _SIDE, _SIDE),), shape, notes={"name": VIT}
        )
    file = scratch_path() / f"{VIT}.onnx"
    write_file(file, model.SerializeToString())
    card = BackboneCard(VIT, _SIDE, _MEAN, _MEAN, _VIT_WIDTH)
    return Network(file, card)


_choices: dict[str, ProviderChoice | Exception] = {}


def device_choice(device: str) -> ProviderChoice:
    """The device of this name, tested once.

    Raises:
        NotMeasuredError: it does not work here, and why.
    """
    if device not in _choices:
        _choices[device] = _tried(lambda: choose_providers(device))
    found = _choices[device]
    if isinstance(found, Exception):
        raise NotMeasuredError(str(found))
    return found


def _tried(choose: Callable[[], ProviderChoice]) -> ProviderChoice | Exception:
    from engine.errors import ProtoleafError

    try:
        return choose()
    except ProtoleafError as error:
        return error


def torch_gpu() -> "torch.device":
    """Torch's GPU device.

    Raises:
        NotMeasuredError: torch has none, and why.
    """
    import torch

    if torch.cuda.is_available():
        return torch.device("cuda")
    from engine.runtime.devices.gather import gather_facts
    from engine.runtime.devices.reasons import why_not_cuda

    reason = why_not_cuda(gather_facts())
    raise NotMeasuredError(
        f"no GPU: {reason.words if reason else 'CUDA is not available to torch'}"
    )
