"""Tries devices: a driver that crashes or hangs takes one process with it, and no other."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from engine.events import CancelToken
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.providers import DeviceList, ListDevices
from engine.worker.parent_watch import ends_with_parent

if TYPE_CHECKING:
    from engine.worker.serve import Send

SURVEY_LIMIT_S: Final = 60.0
"""For all devices together. Nobody waits for the answer as for that of `doctor`, and cold CUDA libraries take long."""


def probe(request: TryDevice, send: "Send", cancel: CancelToken) -> Speed:
    """Try a device on the tiny model, tell how that ended, and measure its speed when asked to."""
    from engine.doctor import speed_of
    from engine.runtime.devices.child import try_device

    with ends_with_parent(cancel, request.end_s):
        attempt = try_device(request.device)
        send(attempt)
        is_measured = attempt.works and request.measure_s > 0
        return Speed(asdict(speed_of(request.device, request.measure_s)) if is_measured else {})


def list_devices(_request: ListDevices, _send: "Send", cancel: CancelToken) -> DeviceList:
    """Try every device of this computer, each GPU in a child process of its own."""
    from engine.doctor import survey_devices

    survey = survey_devices(limit_s=SURVEY_LIMIT_S)
    cancel.raise_if_cancelled()
    return DeviceList(survey.reports, survey.chosen.device_name, survey.chosen.reason)
