"""Count parameters and embedding widths of timm's architectures, for the published networks.

Each is built without allocating weights; all of them take minutes, so the counts ship with the
program. When timm is updated:

    python -m research.timm_sizes
"""

import json
from collections.abc import Callable
from importlib.metadata import version

import typer

from engine.backbones.published.timm_networks import (
    SIZES_NAME,
    every_architecture,
    plain_facts_of,
    shape_of,
)
from engine.config import assets_folder
from engine.errors import ModelError
from engine.new_file import ORDINARY_FILE, write_file

NO_VECTOR = (0, 0)  # of architectures whose output is no vector


def sizes(on_counted: Callable[[str], None]) -> dict[str, tuple[int, int]]:
    """Headless parameters and embedding width by architecture; zeros without a vector output."""
    found = {}
    for name in every_architecture():
        try:
            found[name] = shape_of(plain_facts_of(name))
        except ModelError:
            found[name] = NO_VECTOR
        on_counted(name)
    return found


def main() -> None:
    """Write the file that ships with the program."""
    counted = sizes(typer.echo)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(pair)}" for name, pair in counted.items())
    text = f'{{"timm": "{version("timm")}", "networks": {{\n{rows}\n}}}}\n'
    write_file(assets_folder() / "published" / SIZES_NAME, text, mode=ORDINARY_FILE)


if __name__ == "__main__":
    main()
