"""Options that choose and switch the device, the same for every command that embeds."""

from typing import Annotated

import typer

DeviceName = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, tensorrt, coreml or directml.")]
DeviceSettingTexts = Annotated[
    list[str] | None,
    typer.Option("--device-setting", metavar="NAME=VALUE", help="A switch of the GPU, as in docs/gpu.md; repeatable."),
]
