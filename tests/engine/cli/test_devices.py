"""Devices on the command line and in the worker."""

from dataclasses import replace

import pytest

from engine import doctor
from engine.backbones.model_files import default_backbone
from engine.collection.embed import embed_closer
from engine.embedding.rates import DeviceSpeed
from engine.jobs import SURVEY_LIMIT_S
from engine.project import Project
from engine.runtime import providers
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.devices.reasons import Attempt
from engine.runtime.providers import DeviceList, ListDevices
from research.benchmarks import embedding
from research.benchmarks.embedding import EmbedFigures
from tests.support.collections import Collection, without_its_views
from tests.support.command_line import done, protoleaf, refused
from tests.support.gpu_facts import NO_DRIVER, facts_with
from tests.support.served import served
from tests.support.unread import embed_request


@pytest.fixture(autouse=True)
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer with a GPU and without its driver."""
    monkeypatch.setattr(providers, "gather_facts", lambda: facts_with(driver=NO_DRIVER))


@pytest.mark.parametrize("command", ["embed", "benchmark embed"])
def test_unknown_device(
    command: str, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A usage error lists the known devices."""
    line = refused(capsys, *command.split(), collection.project, "--device", "tpu", status=2)
    assert "auto, cpu, cuda, tensorrt, coreml, directml" in line


@pytest.mark.parametrize("device", ["cuda", "tensorrt", "coreml", "directml"])
def test_device_that_does_not_work(
    device: str, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A named device that fails is a usage error with reason and remedy."""
    line = refused(capsys, "embed", collection.project, "--device", device, status=2)
    reason = "no NVIDIA driver" if device in ("cuda", "tensorrt") else "is built without"
    assert f"the device {device} cannot be used" in line
    assert reason in line


@pytest.mark.slow
def test_embedding_says_where_it_ran(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """The choice "auto" falls back to the CPU without a message."""
    fields = done(capsys, "embed", collection.project, "--device", "auto", "--json").fields
    assert (fields["device"], fields["notice"]) == ("CPU", "")


def test_unknown_switch(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown option is a usage error."""
    line = refused(capsys, "benchmark", "embed", "--device-setting", "speed=11", status=2)
    assert "no such device setting" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shares", "is_on_gpu", "status"),
    [
        ((0.6, 0.91), False, 0),
        ((0.95, 0.89), False, 1),
        ((0.89, 1.2), True, 1),
        ((0.91, 0.7), True, 0),
    ],
)
def test_the_benchmark_fails_where_the_pipeline_wastes_time(
    shares: tuple[float, float],
    is_on_gpu: bool,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Below 0.9 of the speed of decoding and backbone.

    With a GPU these do not share cores.
    """
    figures = EmbedFigures(
        images=100,
        mean_bytes=50_000,
        device="any",
        decode=4000.0,
        inference=1000.0,
        pipeline=700.0,
        share_of_limit=shares[0],
        share_of_reachable=shares[1],
        best_decoder="any",
        best_decode=5000.0,
        share_of_best_decode=0.78,
        peer=None,
        over_peer=None,
        is_on_gpu=is_on_gpu,
    )
    asked: list[object] = []

    def measure(*_paths: object, backbone: str, **_other: object) -> EmbedFigures:
        asked.append(backbone)
        return figures

    monkeypatch.setattr(embedding, "measure_embed", measure)
    answer = protoleaf(capsys, "benchmark", "embed")
    assert asked == [default_backbone()]
    share = shares[0] if is_on_gpu else shares[1]
    assert answer.status == status
    assert f"{share:.2f} of that (limit 0.9)" in answer.out
    assert f"both together    {700 / share:8.0f} images/s" in answer.out
    assert protoleaf(capsys, "benchmark", "embed", "--json").fields["share"] == share


def test_worker_probes() -> None:
    """The worker reports the trial, and measures on request only."""
    answer = served(TryDevice("cpu", end_s=60))
    assert [event.works for event in answer.of(Attempt)] == [True]
    assert answer.ending == Speed()


def test_worker_lists_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every device with reason, remedy and speed, and the choice of "auto".

    First loading of libraries may take long.
    """
    monkeypatch.setattr(doctor, "gather_facts", lambda: facts_with(driver=NO_DRIVER))
    monkeypatch.setattr(
        doctor, "speed_of", lambda _device, _seconds: DeviceSpeed(150.0, 2.5e9, 5e11, 0.75, 8.0)
    )
    listed = served(ListDevices()).ending
    assert isinstance(listed, DeviceList)
    assert listed.name == "CPU"
    assert "no NVIDIA driver" in listed.reason
    by_device = {report.device: report for report in listed.reports}
    assert set(by_device) == {"tensorrt", "cuda", "cpu"}
    assert (by_device["cuda"].works, by_device["cuda"].cause) == (False, "no_driver")
    assert by_device["cuda"].remedy.startswith("install the NVIDIA driver")
    assert by_device["cpu"].speed["images_per_s"] == pytest.approx(150.0)
    assert SURVEY_LIMIT_S > doctor.TIME_LIMIT_S


@pytest.mark.slow
def test_worker_says_why_no_gpu_embeds(unread: Collection) -> None:
    """The result has device and reason; without a reason if the CPU was requested."""
    for device, reason in (("auto", "no NVIDIA driver"), ("cpu", "")):
        ending = served(replace(embed_request(unread), device=device)).ending
        assert (ending.device_name, ending.notice) == ("CPU", "")
        assert reason in ending.reason
        assert bool(ending.reason) is bool(reason)


def test_worker_refuses_a_device(unread: Collection) -> None:
    """An unavailable device is a message, not a crash."""
    answer = served(replace(embed_request(unread), device="cuda"))
    assert (answer.status, answer.events) == (1, ())
    assert "no NVIDIA driver" in answer.ending.message


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--one-view",)], ids=["by default", "one view"])
def test_views_follow_unless_one_is_enough(
    capsys: pytest.CaptureFixture[str], collection: Collection, options: tuple[str, ...]
) -> None:
    """Images that only lack views are embedded, unless one view is requested."""
    without_its_views(collection)
    fields = done(capsys, "embed", collection.project, "--device", "cpu", *options, "--json").fields
    assert fields["embedded"] == (0 if options else 64)
    with Project.open(collection.project) as project:
        left = embed_closer(project, collection.caches, device="cpu")
    assert (left is None) == (not options)
