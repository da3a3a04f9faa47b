"""`doctor` with simulated computers; only the CPU is measured."""

import json
from pathlib import Path

import pytest

from engine import doctor
from engine.cli.doctor_command import lines_of
from engine.config import CacheFolders
from engine.doctor import Diagnosis, examine, size_of
from engine.embedding.rates import DeviceSpeed
from engine.full_disk import free_space
from engine.images import readers
from engine.runtime.devices.child import DeviceTrial
from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER, PROVIDERS, GpuFacts
from engine.runtime.devices.reasons import Attempt
from tests.support.gpu_facts import GOOD_FACTS, NO_DRIVER, facts_with

NO_GPU = facts_with(
    is_container=True,
    has_nvidia_hardware=False,
    kernel_driver="",
    device_nodes=(),
    driver=NO_DRIVER,
)
SPEED = {
    "images_per_s": 12_000.0,
    "operations_per_image": 2.5e9,
    "product_per_s": 1e14,
    "share_of_product": 0.3,
    "batch": 128.0,
}


class FakeTrials:
    """Simulated device trials; records their time limits."""

    def __init__(self, trial: DeviceTrial) -> None:
        self.limits_s: list[float] = []
        self._trial = trial

    def __call__(self, _device: str, limit_s: float, _measure_s: float) -> DeviceTrial:
        """Try a device."""
        self.limits_s.append(limit_s)
        return self._trial


def examined(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    facts: GpuFacts,
    trial: DeviceTrial | None = None,
) -> Diagnosis:
    """Examine a computer with these facts and this result of a GPU trial."""
    monkeypatch.setattr(doctor, "gather_facts", lambda: facts)
    monkeypatch.setattr(
        doctor, "speed_of", lambda _device, _seconds: DeviceSpeed(150.0, 2.5e9, 5e11, 0.75, 8.0)
    )
    trials = FakeTrials(trial or DeviceTrial(Attempt(works=True, seconds=2.0), SPEED))
    return examine(CacheFolders(tmp_path / "caches"), in_child=trials)


def test_a_computer_without_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU with its speed, and why it is not a GPU, with remedy."""
    found = examined(tmp_path, monkeypatch, NO_GPU)
    assert (found.device, found.provider, found.cause) == ("CPU", CPU_PROVIDER, "no_gpu")
    assert "no NVIDIA driver is installed" in found.reason
    page = "\n".join(lines_of(found))
    assert "Embedding runs on CPU (CPUExecutionProvider)." in page
    assert f"Not on a GPU, because {found.reason}." in page
    assert f"What to do: {found.remedy}." in page
    assert "cuda, tensorrt: this computer shows no NVIDIA GPU" in page
    assert (
        "150 images/s x 2.50 GFLOP = 375 GFLOP/s; a float32 matrix product does 500 GFLOP/s" in page
    )


def test_a_computer_with_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU with speed, memory and driver, without a reason."""
    found = examined(tmp_path, monkeypatch, GOOD_FACTS)
    assert (found.device, found.provider, found.reason, found.remedy) == (
        "NVIDIA H200",
        CUDA_PROVIDER,
        "",
        "",
    )
    page = "\n".join(lines_of(found))
    assert "Embedding runs on NVIDIA H200 (CUDAExecutionProvider)." in page
    assert "Not on a GPU" not in page
    assert "NVIDIA driver 580.65.06, serves CUDA up to 13.0." in page
    assert "NVIDIA H200: 140.0 GiB, 120.0 GiB free, compute capability 9.0." in page
    row = next(line for line in page.splitlines() if line.startswith("  cuda "))
    assert row.split() == ["cuda", "yes", "yes", "2.00", "s", "12,000", "30%", "NVIDIA", "H200"]


@pytest.mark.parametrize(
    ("trial", "cause"),
    [
        (DeviceTrial(Attempt(works=False, message="out of memory"), {}), "out_of_memory"),
        (DeviceTrial(Attempt(works=False, signal=-11), {}), "crashed"),
        (DeviceTrial(Attempt(works=False, timed_out_s=5.0), {}), "no_answer"),
    ],
)
def test_a_gpu_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial: DeviceTrial, cause: str
) -> None:
    """The result of the trial is the reason."""
    found = examined(tmp_path, monkeypatch, GOOD_FACTS, trial)
    assert (found.device, found.cause) == ("CPU", cause)
    assert "\n".join(lines_of(found)).count(f"because {found.reason}.") == 1


def test_experimental_devices_are_tried_and_not_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are marked, and embedding uses another device."""
    facts = facts_with(system="darwin", providers=(PROVIDERS["coreml"], CPU_PROVIDER))
    found = examined(tmp_path, monkeypatch, facts)
    assert [(report.device, report.works) for report in found.providers] == [
        ("coreml", True),
        ("cpu", True),
    ]
    assert (found.device, found.reason) == ("CPU", "")
    assert any(line.endswith("CoreML (experimental)") for line in lines_of(found))


def test_trials_share_one_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU gets the remaining time without the CPU's share, always some."""
    monkeypatch.setattr(doctor, "gather_facts", lambda: GOOD_FACTS)
    monkeypatch.setattr(
        doctor, "speed_of", lambda _device, _seconds: DeviceSpeed(150.0, 2.5e9, 5e11, 0.75, 8.0)
    )
    trials = FakeTrials(DeviceTrial(Attempt(works=False, timed_out_s=5.0), {}))
    for limit_s in (8.0, 0.0):
        examine(CacheFolders(tmp_path), limit_s=limit_s, in_child=trials)
    assert trials.limits_s[::2] == [pytest.approx(5.0, abs=0.5), 1.0]


def test_plain_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JSON has facts, folders and reports of all devices."""
    fields = json.loads(json.dumps(examined(tmp_path, monkeypatch, NO_GPU).as_dict()))
    assert [report["device"] for report in fields["providers"]] == ["cuda", "tensorrt", "cpu"]
    assert fields["facts"]["driver"]["is_installed"] is False
    assert "libcudnn.so.9" in fields["facts"]["libraries"]
    assert {folder["name"] for folder in fields["folders"]} >= {
        "embeddings",
        "thumbnails",
        "added backbones",
    }


def test_kinds_of_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its reader and version, or how to install it."""
    page = "\n".join(lines_of(examined(tmp_path, monkeypatch, NO_GPU)))
    assert "  JPEG                simplejpeg " in page
    assert "  HEIC                pillow-heif " in page
    assert "  RAW photos          the preview in it: ARW, CR2, CR3, DNG, NEF," in page
    monkeypatch.setattr(readers, "heif_reader", lambda: None)
    monkeypatch.setattr("PIL.features.check", lambda codec: codec != "avif")
    found = examined(tmp_path, monkeypatch, NO_GPU)
    assert [image.kind for image in found.images if not image.works] == ["HEIC", "AVIF"]
    page = "\n".join(lines_of(found))
    assert "  HEIC                not read here: install the Python package pi-heif" in page
    assert "  AVIF                not read here: install Pillow as its authors build it" in page


def test_folders(tmp_path: Path) -> None:
    """Files below a folder are counted without links; free space is of the nearest parent."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/one").write_bytes(bytes(1000))
    (tmp_path / "a/b/two").write_bytes(bytes(24))
    assert size_of(tmp_path / "a") == 1024
    assert size_of(tmp_path / "none") == 0
    free = free_space(tmp_path / "none/below")
    assert free is not None
    assert free > 0
