"""The `doctor` command: versions, devices, image formats, folders and backbones."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.cli.output import print_result
from engine.config import CacheFolders
from engine.runtime.devices.facts import EXPERIMENTAL

if TYPE_CHECKING:
    from engine.doctor import Diagnosis, FolderReport
    from engine.runtime.providers import ProviderReport

_HEADINGS = (
    "device",
    "tried",
    "works",
    "first result",
    "images/s",
    "share of float32 limit",
    "on",
)
_GIB = 2**30
_MIB = 2**20


def doctor() -> None:
    """Examine this computer."""
    from engine.doctor import examine

    found = examine(CacheFolders.default())
    print_result("\n".join(lines_of(found)), found.as_dict())


def lines_of(found: "Diagnosis") -> Iterator[str]:
    """Lines of the report."""
    yield from _section(
        "Versions", [f"{name:<20}{version}" for name, version in found.versions.items()]
    )
    yield from _section("Devices", _device_lines(found.providers))
    yield from _section("Choice", _choice_lines(found))
    yield from _section(
        "Images",
        [
            f"{each.kind:<20}{each.reader if each.works else f'not read here: {each.remedy}'}"
            for each in found.images
        ],
    )
    yield from _section("Folders", [_folder_line(folder) for folder in found.folders])
    yield f"Backbones: {', '.join(found.backbones) or 'none'}"
    if found.eight_bit:
        yield (
            f"Of these embed in eight bits: {', '.join(found.eight_bit)}. Which one does depends "
            "on its files alone: embeddings are the same on every processor."
        )
    yield f"Caches: {found.cache_folder}"
    yield f"Took {found.seconds:.1f} s."


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield title
    yield from (f"  {line}".rstrip() for line in lines)
    yield ""


def _device_lines(reports: Sequence["ProviderReport"]) -> list[str]:
    rows = [_HEADINGS, *(_device_row(report) for report in reports)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
        for row in rows
    ]
    speeds = [report for report in reports if report.speed]
    if speeds:
        lines += ["", *(_speed_line(report) for report in speeds)]
    return lines + _reason_lines(reports)


def _reason_lines(reports: Sequence["ProviderReport"]) -> list[str]:
    """Why devices do not work, one line per reason."""
    devices: dict[str, list[str]] = {}
    for report in reports:
        if report.reason:
            devices.setdefault(report.reason, []).append(report.device)
    return [f"{', '.join(names)}: {reason}" for reason, names in devices.items()]


def _device_row(report: "ProviderReport") -> tuple[str, ...]:
    speed = report.speed
    return (
        report.device,
        "yes" if report.tried else "no",
        "yes" if report.works else "no",
        f"{report.seconds:.2f} s" if report.works else "-",
        f"{speed['images_per_s']:,.0f}" if speed else "-",
        f"{speed['share_of_product']:.0%}" if speed else "-",
        f"{report.device_name or '-'}{' (experimental)' if report.device in EXPERIMENTAL else ''}",
    )


def _speed_line(report: "ProviderReport") -> str:
    speed = report.speed
    return (
        f"{report.device}: the bundled backbone alone does {speed['images_per_s']:,.0f} images/s x "
        f"{speed['operations_per_image'] / 1e9:.2f} GFLOP = "
        f"{speed['images_per_s'] * speed['operations_per_image'] / 1e9:,.0f} GFLOP/s; "
        f"a float32 matrix product does {speed['product_per_s'] / 1e9:,.0f} GFLOP/s"
        + (", and the backbone computes in eight bits" if speed.get("is_eight_bit") else "")
    )


def _choice_lines(found: "Diagnosis") -> list[str]:
    lines = [f"Embedding runs on {found.device} ({found.provider})."]
    if found.reason:
        lines += [f"Not on a GPU, because {found.reason}.", f"What to do: {found.remedy}."]
    driver = found.facts.driver
    if driver.version or driver.cuda_version[0]:
        newest = ".".join(map(str, driver.cuda_version))
        lines.append(
            f"NVIDIA driver {driver.version or 'of unknown version'}, serves CUDA up to {newest}."
        )
    if driver.device:
        gpu = driver.device
        free = "" if gpu.free_bytes is None else f", {gpu.free_bytes / _GIB:.1f} GiB free"
        capability = ".".join(map(str, gpu.capability))
        lines.append(
            f"{gpu.name}: {gpu.memory_bytes / _GIB:.1f} GiB{free}, compute capability {capability}."
        )
    if found.facts.built_for_cuda:
        lines.append(f"ONNX Runtime is built for CUDA {found.facts.built_for_cuda}.")
    return lines


def _folder_line(folder: "FolderReport") -> str:
    free = "free space unknown" if folder.free_bytes is None else f"{_size(folder.free_bytes)} free"
    return f"{folder.name:<20}{_size(folder.size_bytes):>10}   {free:>14}   {folder.path}"


def _size(size_bytes: int) -> str:
    if size_bytes >= _GIB:
        return f"{size_bytes / _GIB:,.1f} GiB"
    return f"{size_bytes / _MIB:,.1f} MiB"
