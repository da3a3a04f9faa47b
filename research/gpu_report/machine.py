"""The computer: GPU, driver, versions, and for each device its speed or why it is not used."""

import os
import platform
from collections.abc import Callable, Sequence
from functools import cache

from engine.doctor import DeviceSurvey, survey_devices
from engine.runtime.devices.facts import devices_of
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.sessions import usable_cores
from engine.versions import versions
from research.gpu_report.part import Measurement
from research.gpu_report.rows import Detail, NotMeasuredError, ReportRow
from research.gpu_report.sizes import Sizes

TRIALS_S = 40.0
"""For all trials of devices together: the first start of CUDA reads gigabytes."""


def measurements(sizes: Sizes) -> Sequence[Measurement]:
    """Rows of the computer, independent of the sizes."""
    del sizes
    rows: list[tuple[str, Callable[[], ReportRow]]] = [
        ("processor", _processor),
        ("versions", _versions),
        ("ONNX Runtime", _onnx_runtime),
        ("torch", _torch),
        ("GPU", _gpu),
        *((f"device {name}", _device_row(name)) for name in devices_of()),
    ]
    return [Measurement(name, run) for name, run in rows]


@cache
def _survey() -> DeviceSurvey:
    return survey_devices(limit_s=TRIALS_S)


def _processor() -> ReportRow:
    return ReportRow(
        "", usable_cores(), "cores", {"system": platform.platform(), "cores in all": os.cpu_count()}
    )


def _versions() -> ReportRow:
    found = versions()
    return ReportRow(
        "",
        found["protoleaf"],
        "",
        {name: text for name, text in found.items() if name != "protoleaf"},
    )


def _onnx_runtime() -> ReportRow:
    loaded = load_onnxruntime()
    providers = ", ".join(loaded.get_available_providers())
    return ReportRow(
        "",
        loaded.__version__,
        "",
        {"providers": providers, "built for CUDA": str(loaded.cuda_version or "none")},
    )


def _torch() -> ReportRow:
    import torch

    details: dict[str, Detail] = {
        "built for CUDA": torch.version.cuda,
        "GPU": torch.cuda.is_available(),
    }
    if torch.cuda.is_available():
        details["cuDNN"] = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
    return ReportRow("", torch.__version__, "", details)


def _gpu() -> ReportRow:
    survey = _survey()
    driver, device = survey.facts.driver, survey.facts.driver.device
    if device is None:
        raise NotMeasuredError(f"no GPU: {survey.chosen.reason}")
    details: dict[str, Detail] = {
        "memory, MiB": device.memory_bytes // 2**20,
        "free, MiB": None if device.free_bytes is None else device.free_bytes // 2**20,
        "compute capability": ".".join(map(str, device.capability)),
        "driver": driver.version,
        "CUDA of the driver": ".".join(map(str, driver.cuda_version)),
    }
    return ReportRow("", device.name, "", details)


def _device_row(name: str) -> Callable[[], ReportRow]:
    def run() -> ReportRow:
        report = next(each for each in _survey().reports if each.device == name)
        if not report.works:
            raise NotMeasuredError(f"{report.reason} ({report.cause}); {report.remedy}")
        speed: dict[str, Detail] = dict(report.speed)
        return ReportRow(
            "", report.seconds, "s until the first result", {"name": report.device_name, **speed}
        )

    return run
