"""Options that choose and switch the device, the same for every command that embeds."""

from typing import Annotated

import typer


def _known(device: str) -> str:
    """Refuse a device that nobody knows, before the command looks at anything else."""
    from engine.runtime.devices.names import check_device

    check_device(device)
    return device


DeviceName = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda, tensorrt, coreml or directml.", callback=_known)
]
DeviceSettingTexts = Annotated[
    list[str] | None,
    typer.Option("--device-setting", metavar="NAME=VALUE", help="A GPU setting, as in docs/gpu.md; repeatable."),
]
