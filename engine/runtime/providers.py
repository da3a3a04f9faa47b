"""Choose the device that embeds: each is tried in a child process, and refused with a reason."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.errors import UsageError
from engine.runtime.devices.child import TRIAL_LIMIT_S, TryInChild, try_in_child
from engine.runtime.devices.facts import (
    AUTO,
    CPU_PROVIDER,
    CUDA_PROVIDER,
    EXPERIMENTAL,
    PROVIDERS,
    GpuFacts,
    check_device,
    devices_of,
)
from engine.runtime.devices.gather import gather_facts
from engine.runtime.devices.reasons import remedy_by_name, why_failed, why_not
from engine.runtime.devices.settings import DeviceSettings
from engine.worker.protocol import Request

_PLAIN = DeviceSettings()


@dataclass(frozen=True)
class ProviderReport:
    """Result of trying one execution provider."""

    device: str  # "cuda"
    name: str  # ONNX Runtime's name of the provider
    device_name: str  # for people: "CPU", "NVIDIA H200"
    tried: bool  # whether the tiny model was started on it; the facts may rule it out before
    works: bool  # whether it ran and gave the right numbers
    cause: str = ""  # short name of why not; empty when it works
    reason: str = ""  # why not, in words
    remedy: str = ""
    seconds: float = 0.0  # time from nothing to the first result
    # Figures by name, when the speed was measured
    speed: dict[str, float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceList:
    """Results of trying every device of this computer."""

    reports: tuple[ProviderReport, ...]  # the preferred device first; the CPU is the last
    name: str  # the device that "auto" is, for display
    reason: str = ""  # why that is not a GPU; empty when it is one


@dataclass(frozen=True)
class ListDevices(Request[DeviceList]):
    """Try every device of this computer, and measure those that work."""


@dataclass(frozen=True)
class ProviderChoice:
    """Where to run."""

    provider: str  # ONNX Runtime's name
    device_name: str  # for people
    reason: str = ""  # why a GPU is not used; empty when one is, or the CPU was requested
    settings: DeviceSettings = _PLAIN
    free_bytes: int | None = None  # free memory of the device; None when unknown
    is_explicit: bool = False  # whether the device was requested by name

    @property
    def is_gpu(self) -> bool:
        """Whether work is done off the CPU, so that decoding overlaps with it."""
        return self.provider != CPU_PROVIDER

    @property
    def is_experimental(self) -> bool:
        """Whether it never ran on real hardware, so that it is compared with the CPU first."""
        return self.provider not in (CPU_PROVIDER, CUDA_PROVIDER)


CPU_CHOICE = ProviderChoice(CPU_PROVIDER, "CPU")


def choose_providers(device: str = AUTO, settings: DeviceSettings = _PLAIN) -> ProviderChoice:
    """Choose where to run; "auto" is the fastest device that works, without experimental ones.

    Raises:
        UsageError: there is no such device, or it was requested by name and does not work here.
    """
    check_device(device)
    if device == "cpu":
        return CPU_CHOICE
    facts = gather_facts()
    wanted = (
        (device,)
        if device != AUTO
        else tuple(name for name in devices_of(facts.system) if name not in EXPERIMENTAL)
    )
    reports = (probe_device(name, facts) for name in wanted if name != "cpu")
    return choose_from(reports, device, facts=facts, settings=settings)


def choose_from(
    reports: Iterable[ProviderReport],
    device: str,
    *,
    facts: GpuFacts,
    settings: DeviceSettings = _PLAIN,
) -> ProviderChoice:
    """Take the first device that works of lazy reports, the preferred one first, without the CPU.

    Raises:
        UsageError: the device was requested by name and does not work.
    """
    refused: ProviderReport | None = None
    for report in reports:
        if report.works:
            gpu = facts.driver.device
            return ProviderChoice(
                report.name,
                report.device_name,
                settings=settings,
                free_bytes=gpu.free_bytes if gpu else None,
                is_explicit=device != AUTO,
            )
        refused = refused or report
    if device != AUTO and refused is not None:
        raise UsageError(
            "the device {device} cannot be used: {reason}",
            remedy=remedy_by_name(refused.remedy),
            device=device,
            reason=refused.reason,
        )
    return ProviderChoice(CPU_PROVIDER, "CPU", refused.reason if refused else "")


def probe_device(
    device: str,
    facts: GpuFacts,
    *,
    limit_s: float = TRIAL_LIMIT_S,
    measure_s: float = 0.0,
    in_child: TryInChild = try_in_child,
) -> ProviderReport:
    """Check whether a device works: by the facts, and by a trial in a child process.

    For `measure_s` seconds the bundled backbone's speed is measured; 0: not at all.
    """
    name, shown = PROVIDERS[device], device_name(device, facts)
    if (reason := why_not(device, facts)) is not None:
        return ProviderReport(
            device, name, shown, False, False, reason.cause, reason.words, reason.remedy
        )
    trial = in_child(device, limit_s, measure_s)
    seconds = trial.attempt.seconds
    if (reason := why_failed(device, trial.attempt, facts)) is not None:
        return ProviderReport(
            device, name, shown, True, False, reason.cause, reason.words, reason.remedy, seconds
        )
    return ProviderReport(device, name, shown, True, True, seconds=seconds, speed=trial.speed)


def device_name(device: str, facts: GpuFacts) -> str:
    """Name of a device for people; empty when there is none."""
    gpu = facts.driver.device.name if facts.driver.device else ""
    return {"cpu": "CPU", "cuda": gpu, **EXPERIMENTAL}[device]
