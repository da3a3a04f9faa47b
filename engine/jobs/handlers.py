"""What a worker can be asked for."""

from typing import TYPE_CHECKING

from engine.backbones import messages
from engine.collection.bundle.trying import TryBundle
from engine.collection.messages import EstimateTraining, PrepareChange, Train
from engine.embedding.messages import EmbedImages, MeasureRates
from engine.jobs import backbones, devices, projects
from engine.jobs.embedding import Embedder, measure_rates
from engine.runtime.devices.child import TryDevice
from engine.runtime.providers import ListDevices

if TYPE_CHECKING:
    from engine.worker.serve import Handlers


def handlers() -> "Handlers":
    """What answers each request, for one process."""
    return {
        EmbedImages: Embedder().embed,
        MeasureRates: measure_rates,
        Train: projects.train,
        EstimateTraining: projects.estimate_training,
        PrepareChange: projects.prepare_change,
        messages.ConvertBackbone: backbones.convert_backbone,
        messages.InspectFile: backbones.inspect_file,
        messages.TryFile: backbones.try_file,
        messages.AddFile: backbones.add_file,
        messages.ExamineFile: backbones.examine_file,
        messages.RunFile: backbones.run_file,
        messages.ListPublished: backbones.list_published,
        messages.AddPublished: backbones.add_published,
        TryBundle: backbones.try_bundle,
        TryDevice: devices.probe,
        ListDevices: devices.list_devices,
    }
