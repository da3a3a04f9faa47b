"""Diagnosis of this computer: versions, devices and their speed, image readers, folders."""

import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.backbones.library import BackboneLibrary
from engine.collection.models import BUNDLED_NAME, all_models, bundled_backbones, find_model
from engine.config import CacheFolders, backbones_folder, log_folder
from engine.embedding.rates import DeviceSpeed, measure_speed
from engine.errors import ProtoleafError
from engine.full_disk import free_space
from engine.images.readers import ImageReader, image_readers
from engine.runtime.devices.child import DeviceTrial, TryInChild, try_device, try_in_child
from engine.runtime.devices.facts import AUTO, EXPERIMENTAL, PROVIDERS, GpuFacts, devices_of
from engine.runtime.devices.gather import gather_facts
from engine.runtime.eight_bit import companion_of
from engine.runtime.providers import ProviderChoice, ProviderReport, choose_from, probe_device
from engine.versions import versions

TIME_LIMIT_S = 8.0  # for all trials together; starting the program comes on top
_CPU_S = 3.0  # of the limit, reserved for the CPU, which is tried last
_MEASURE_S = 1.0  # for a device's speed
_SHORTEST_TRIAL_S = 1.0


@dataclass(frozen=True)
class FolderReport:
    """A folder of the program."""

    name: str  # of its content
    path: str  # where
    size_bytes: int  # of the files in it; 0 when it is not there yet
    free_bytes: int | None  # that its disk still takes; None when unknown


@dataclass(frozen=True)
class DeviceSurvey:
    """The result of trying every device."""

    # of every device that this system can have, the preferred first, the CPU last
    reports: tuple[ProviderReport, ...]
    chosen: ProviderChoice  # what the device "auto" is, and why not a GPU
    facts: GpuFacts  # about the GPU and its driver


@dataclass(frozen=True)
class Diagnosis:
    """The report of `protoleaf doctor`."""

    versions: dict[str, str]  # by name
    providers: tuple[ProviderReport, ...]  # as in `DeviceSurvey`
    facts: GpuFacts  # about the GPU and its driver
    device: str  # name of what embedding runs on
    provider: str  # ONNX Runtime's name of it
    reason: str  # why not on a GPU, in words; empty when it does
    cause: str  # short name of that, as in docs/gpu.md
    remedy: str  # what can be done
    backbones: tuple[str, ...]  # names of the bundled and the added ones
    eight_bit: tuple[str, ...]  # those of them whose eight-bit version embeds
    images: tuple[ImageReader, ...]  # what reads each kind of image
    folders: tuple[FolderReport, ...]  # sizes and free space
    cache_folder: str  # root of the caches
    seconds: float  # how long all this took

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        fields["facts"]["libraries"] = sorted(self.facts.libraries)
        return fields


def examine(
    caches: CacheFolders, *, limit_s: float = TIME_LIMIT_S, in_child: TryInChild = try_in_child
) -> Diagnosis:
    """Examine this computer and try its devices, for `limit_s` together; takes a few seconds."""
    started_s = time.perf_counter()
    survey = survey_devices(limit_s=limit_s, in_child=in_child)
    reports, chosen, facts = survey.reports, survey.chosen, survey.facts
    refused = next(
        (report for report in reports if report.reason and report.reason == chosen.reason), None
    )
    return Diagnosis(
        versions=versions(),
        providers=reports,
        facts=facts,
        device=chosen.device_name,
        provider=chosen.provider,
        reason=chosen.reason,
        cause=refused.cause if refused else "",
        remedy=refused.remedy if refused else "",
        backbones=tuple(dict.fromkeys((*bundled_backbones(), *BackboneLibrary().names()))),
        eight_bit=tuple(
            files.name for files in all_models() if companion_of(files.backbone) is not None
        ),
        images=image_readers(),
        folders=_folders(caches),
        cache_folder=str(caches.root),
        seconds=time.perf_counter() - started_s,
    )


def survey_devices(
    *, limit_s: float = TIME_LIMIT_S, in_child: TryInChild = try_in_child
) -> DeviceSurvey:
    """Try every device, within `limit_s` less the CPU's share, and measure those that work."""
    deadline_s = time.perf_counter() + limit_s
    facts, reports = gather_facts(), []
    for device in devices_of(facts.system):
        if device == "cpu":
            reports.append(probe_device(device, facts, measure_s=_MEASURE_S, in_child=_try_here))
        else:
            left_s = max(_SHORTEST_TRIAL_S, deadline_s - _CPU_S - time.perf_counter())
            reports.append(
                probe_device(device, facts, limit_s=left_s, measure_s=_MEASURE_S, in_child=in_child)
            )
    chosen = choose_from(
        (report for report in reports if report.device not in {*EXPERIMENTAL, "cpu"}),
        AUTO,
        facts=facts,
    )
    return DeviceSurvey(tuple(reports), chosen, facts)


def _try_here(device: str, _limit_s: float, measure_s: float) -> DeviceTrial:
    """Try the CPU in this process, where no driver can crash."""
    attempt = try_device(device)
    try:
        return DeviceTrial(attempt, asdict(speed_of(device, measure_s)) if attempt.works else {})
    except ProtoleafError:  # the bundled backbone is missing or damaged: reported by what uses it
        return DeviceTrial(attempt, {})


def speed_of(device: str, seconds: float) -> DeviceSpeed:
    """Measure the bundled backbone on a working device for some seconds; setting up comes on top.

    Raises:
        ModelError: it does not work, after all.
    """
    model = find_model(BUNDLED_NAME)
    choice = ProviderChoice(PROVIDERS[device], device, is_explicit=True)
    return measure_speed(model.backbone, model.card, choice, seconds)


def _folders(caches: CacheFolders) -> tuple[FolderReport, ...]:
    named = {
        "embeddings": caches.embeddings,
        "thumbnails": caches.thumbnails,
        "models of projects": caches.models,
        "looks at collections": caches.collections,
        "maps of collections": caches.maps,
        "added backbones": backbones_folder(),
        "log": log_folder(),
    }
    return tuple(
        FolderReport(name, str(path), size_of(path), free_space(path))
        for name, path in named.items()
    )


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; unreadable ones do not count."""
    total = 0
    for parent, _folders_in, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += (Path(parent) / name).stat(follow_symlinks=False).st_size
    return total
