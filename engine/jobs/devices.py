"""The worker's verbs that try devices: a driver that crashes or hangs takes one process with it, and no other."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from engine.events import CancelToken
from engine.worker.parent_watch import ends_with_parent

if TYPE_CHECKING:
    from engine.jobs.serve import EventWriter


SURVEY_LIMIT_S: Final = 60.0
"""For all devices together. Nobody waits for the answer as for that of `doctor`, and cold CUDA libraries take long."""


def probe(job: Mapping[str, Any], events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Try a device on the tiny model, tell how that ended, and measure its speed when asked to.

    Args:
        job: "device" is "cpu", "cuda", ...; "measure_s" is for how long to measure, 0 for not at all; "end_s" is after
            what time this process ends at the latest, 0 for no limit.
        events: gets the event "attempt" as soon as that is known.
        cancel: ends this process at once.

    Returns:
        figures of the speed by name; nothing when it was not measured.
    """
    from engine.doctor import speed_of
    from engine.runtime.devices.attempt import try_device

    device, measure_s = str(job["device"]), float(job.get("measure_s", 0.0))
    with ends_with_parent(cancel, float(job.get("end_s", 0.0))):
        attempt = try_device(device)
        events.write("attempt", **asdict(attempt))
        return asdict(speed_of(device, measure_s)) if attempt.works and measure_s else {}


def list_devices(_job: Mapping[str, Any], _events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Try every device of this computer, each GPU in a child process of its own.

    Returns:
        "devices": the fields of every `ProviderReport`; "name" and "reason": what the device "auto" is, and why that is
        no GPU.
    """
    from engine.doctor import survey_devices

    survey = survey_devices(limit_s=SURVEY_LIMIT_S)
    cancel.raise_if_cancelled()
    return {
        "devices": [asdict(report) for report in survey.reports],
        "name": survey.chosen.device_name,
        "reason": survey.chosen.reason,
    }
