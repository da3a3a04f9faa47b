"""Which device is chosen, by faked facts and trials; and the door to ONNX Runtime."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.config import assets_folder
from engine.errors import ModelError, UsageError
from engine.runtime import providers, sessions
from engine.runtime.devices.child import PROBE_MODEL, DeviceTrial
from engine.runtime.devices.facts import (
    CPU_PROVIDER,
    CUDA_PROVIDER,
    DEVICES,
    EXPERIMENTAL,
    PROVIDERS,
    GpuFacts,
    devices_of,
)
from engine.runtime.devices.reasons import Attempt
from engine.runtime.devices.settings import DeviceSettings
from engine.runtime.providers import CPU_CHOICE, choose_providers, device_name, probe_device
from engine.runtime.sessions import open_session
from tests.support.gpu_facts import GOOD_FACTS, NO_DRIVER, facts_with

WORKS = DeviceTrial(Attempt(works=True, seconds=1.5), {"images_per_s": 9.0})


def install(
    monkeypatch: pytest.MonkeyPatch,
    facts: GpuFacts,
    *,
    works: tuple[str, ...] = (),
    message: str = "it is tired",
) -> list[str]:
    """Fake the facts and the trials: only these devices work.

    Returns the devices that are tried.
    """
    tried: list[str] = []

    def attempt(device: str, *_limits: float) -> DeviceTrial:
        tried.append(device)
        return WORKS if device in works else DeviceTrial(Attempt(works=False, message=message), {})

    monkeypatch.setattr(providers, "gather_facts", lambda: facts)
    monkeypatch.setattr(
        providers, "probe_device", lambda name, known: probe_device(name, known, in_child=attempt)
    )
    return tried


def test_gpu_that_works_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a working GPU, auto and cuda take it, with its free memory and the switches.

    Cpu does not look at it.
    """
    tried = install(monkeypatch, GOOD_FACTS, works=("cuda",))
    settings = DeviceSettings(batch=16)
    for device in ("auto", "cuda"):
        choice = choose_providers(device, settings)
        assert (choice.provider, choice.device_name, choice.reason) == (
            CUDA_PROVIDER,
            "NVIDIA H200",
            "",
        )
        assert (choice.free_bytes, choice.settings, choice.is_explicit) == (
            120 * 2**30,
            settings,
            device == "cuda",
        )
        assert choice.is_gpu
    assert tried == ["cuda", "cuda"]
    assert choose_providers("cpu") == CPU_CHOICE
    assert tried == ["cuda", "cuda"]


def test_gpu_that_does_not_work_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a working GPU auto takes the CPU and says why.

    Cuda is misuse, with reason and remedy.
    """
    install(monkeypatch, GOOD_FACTS, message="out of memory")
    choice = choose_providers("auto")
    assert (choice.device_name, choice.is_gpu) == ("CPU", False)
    assert choice.reason == "the memory of the GPU is full (122,880 MiB free)"
    message = (
        "device cuda cannot be used: the memory .* "
        "Use the device auto or cpu, or close other programs"
    )
    with pytest.raises(UsageError, match=message):
        choose_providers("cuda")


@pytest.mark.parametrize(
    ("facts", "device", "remedy"),
    [
        (GpuFacts(system="linux", has_nvidia_hardware=False), "cuda", "use the device auto or cpu"),
        (
            GpuFacts(system="linux", has_nvidia_hardware=False, is_container=True),
            "cuda",
            "use the device auto or cpu; a container needs `--gpus all` to use the computer's GPU",
        ),
        (GpuFacts(system="linux"), "coreml", "use the device auto"),
    ],
)
def test_a_device_asked_for_by_name_is_never_nothing_to_do(
    facts: GpuFacts, device: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CPU does not step in for it, so another device is the way out."""
    install(monkeypatch, facts)
    with pytest.raises(UsageError) as refusal:
        choose_providers(device)
    assert refusal.value.remedy == remedy


def test_facts_that_speak_against_it_spare_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a driver no child is started."""
    tried = install(monkeypatch, facts_with(driver=NO_DRIVER), works=("cuda",))
    assert "no NVIDIA driver" in choose_providers("auto").reason
    assert tried == []


@pytest.mark.parametrize("device", EXPERIMENTAL)
def test_experimental_devices_only_by_name(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is taken by itself, also where it works.

    One that fails is refused with its own message.
    """
    facts = facts_with(providers=(PROVIDERS[device], CUDA_PROVIDER))
    tried = install(monkeypatch, facts, works=(device,))
    assert choose_providers("auto").device_name == "CPU"
    choice = choose_providers(device)
    assert (choice.device_name, choice.is_experimental, choice.is_explicit) == (
        EXPERIMENTAL[device],
        True,
        True,
    )
    assert tried == ["cuda", device]
    install(monkeypatch, facts, message="the model has an operator that it lacks")
    with pytest.raises(
        UsageError, match=f"{PROVIDERS[device]} fails: the model has an operator that it lacks"
    ):
        choose_providers(device)


@pytest.mark.parametrize("system", ["darwin", "freebsd14"])
def test_systems_without_cuda(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU, without a trial and without a reason."""
    tried = install(monkeypatch, GpuFacts(system=system), works=tuple(EXPERIMENTAL))
    assert (choose_providers("auto"), tried) == (CPU_CHOICE, [])


@pytest.mark.parametrize("device", ["tpu", "", "CUDA"])
def test_unknown_device(device: str) -> None:
    """A device that is not offered is misuse, and all that are offered are named."""
    with pytest.raises(UsageError, match=", ".join(DEVICES)):
        choose_providers(device)


def test_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report says whether the device was tried, and carries the speed of one that works."""
    report = probe_device("cuda", GOOD_FACTS, in_child=lambda *_limits: WORKS)
    assert (report.tried, report.works, report.seconds, report.speed) == (
        True,
        True,
        1.5,
        {"images_per_s": 9.0},
    )
    report = probe_device("cuda", facts_with(driver=NO_DRIVER), in_child=lambda *_limits: WORKS)
    assert (report.tried, report.works, report.cause) == (False, False, "no_driver")
    assert report.remedy


def test_names() -> None:
    """Every device that a system can have has a name for people, where there is one."""
    assert [device_name(device, GOOD_FACTS) for device in devices_of("linux")] == [
        "NVIDIA H200",
        "TensorRT",
        "CPU",
    ]
    assert device_name("cuda", GpuFacts()) == ""


def test_this_computer() -> None:
    """The real choice is the CPU with a reason, or a GPU without one."""
    choice = choose_providers("auto")
    assert choice.is_gpu != bool(choice.reason)


def test_rubbish_is_no_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file that is no model is a model error, and ONNX Runtime writes nothing by itself."""
    model = tmp_path / "model.onnx"
    model.write_bytes(b"rubbish")
    with pytest.raises(ModelError, match=r"model\.onnx"):
        open_session(model)
    with pytest.raises(ModelError, match="not there"):
        open_session(tmp_path / "none.onnx")
    assert capfd.readouterr() == ("", "")


def test_no_silent_fallback() -> None:
    """A provider that does not exist here is an error, not a quiet CPU session."""
    with pytest.raises(ModelError):
        open_session(assets_folder() / PROBE_MODEL, "NoSuchExecutionProvider")
    assert open_session(assets_folder() / PROBE_MODEL).get_providers() == [CPU_PROVIDER]


@pytest.mark.parametrize("provider", [CPU_PROVIDER, CUDA_PROVIDER])
def test_the_cpu_runs_what_a_device_lacks(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is offered each operator last, without options."""
    offered: list[dict[str, Any]] = []

    def open_here(_path: str, _options: object, **chosen: Any) -> SimpleNamespace:
        offered.append(dict(zip(chosen["providers"], chosen["provider_options"], strict=True)))
        return SimpleNamespace(get_providers=lambda: chosen["providers"])

    runtime = SimpleNamespace(
        get_available_providers=lambda: [CUDA_PROVIDER, CPU_PROVIDER],
        set_default_logger_severity=lambda _severity: None,
        SessionOptions=SimpleNamespace,
        InferenceSession=open_here,
    )
    monkeypatch.setattr(sessions, "load_onnxruntime", lambda: runtime)
    monkeypatch.setattr(sessions, "load_gpu_libraries", lambda: None)
    options = {"use_tf32": "1"} if provider == CUDA_PROVIDER else {}
    open_session(assets_folder() / PROBE_MODEL, provider, provider_options=options)
    assert [list(each.items()) for each in offered] == [
        [(provider, options), *([(CPU_PROVIDER, {})] if provider == CUDA_PROVIDER else [])]
    ]
