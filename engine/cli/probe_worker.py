"""The worker's verb that tries a device: a driver that crashes or hangs takes this process with it, and no other."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.cli.worker import EventWriter


def probe(job: Mapping[str, Any], events: "EventWriter", _cancel: CancelToken) -> Mapping[str, Any]:
    """Try a device on the tiny model, tell how that ended, and measure its speed when asked to.

    Args:
        job: "device" is "cpu", "cuda", ...; "measure_s" is for how long to measure, 0 for not at all.
        events: gets the event "attempt" as soon as that is known.

    Returns:
        figures of the speed by name; nothing when it was not measured.
    """
    from engine.inference.devices.attempt import try_device
    from engine.workflows.doctor import speed_of

    device, measure_s = str(job["device"]), float(job.get("measure_s", 0.0))
    attempt = try_device(device)
    events.write("attempt", **asdict(attempt))
    return asdict(speed_of(device, measure_s)) if attempt.works and measure_s else {}
