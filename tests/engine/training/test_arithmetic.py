import ctypes
import platform

import pytest
import torch

from engine.errors import InputError
from engine.training.arithmetic import device_of, keep_freed_memory, number_type

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    ("wish", "has_gpu", "expected"),
    [
        ("auto", True, CUDA),
        ("auto", False, CPU),
        ("cuda", True, CUDA),
        ("cpu", True, CPU),
        ("cpu", False, CPU),
    ],
)
def test_device(
    monkeypatch: pytest.MonkeyPatch, wish: str, has_gpu: bool, expected: torch.device
) -> None:
    """A wish is followed; "auto" takes the GPU where there is one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    assert device_of(wish) == expected


def test_cuda_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for the GPU does not get the CPU in silence."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r"CUDA is not available.*doctor"):
        device_of("cuda")


def test_unknown_device() -> None:
    """The error lists what there is."""
    with pytest.raises(InputError, match=r"expected auto, cpu or cuda, found “tpu”"):
        device_of("tpu")


@pytest.mark.parametrize("is_fast", [True, False])
def test_automatic_number_type(monkeypatch: pytest.MonkeyPatch, is_fast: bool) -> None:
    """bfloat16 where the processor has instructions for it, on the CPU as on the GPU."""
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: is_fast)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_options: is_fast)
    expected = torch.bfloat16 if is_fast else torch.float32
    assert number_type("auto", CPU) == number_type("auto", CUDA) == expected


def test_chosen_number_type() -> None:
    """A chosen precision is taken on any device."""
    for device in (CPU, CUDA):
        assert number_type("float32", device) == torch.float32
        assert number_type("bfloat16", device) == torch.bfloat16


def test_keeping_memory_does_no_harm() -> None:
    """Glibc takes it, as often as it is asked; large blocks still come and go."""
    answers = {keep_freed_memory() for _ in range(3)}
    assert answers == {platform.libc_ver()[0] == "glibc"}
    for _ in range(3):
        assert torch.ones(5_000_000).sum().item() == 5_000_000


def test_another_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the function does not exist, the answer is no."""
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    assert keep_freed_memory() is False
