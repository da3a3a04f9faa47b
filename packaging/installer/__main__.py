"""Command to build and pack the program: `make installer`."""

import argparse
import sys
from pathlib import Path

from installer.archive import sha256_of
from installer.flavours import FLAVOURS, Flavour
from installer.places import PRODUCTS
from installer.program import build_program

_MB = 1e6


def main() -> int:
    """Build and pack one flavour.

    Returns:
        exit status.
    """
    parser = argparse.ArgumentParser(prog="installer", description=__doc__)
    parser.add_argument("--flavour", choices=FLAVOURS, default="cpu")
    parser.add_argument(
        "--only-program", action="store_true", help="build the program's folder, pack nothing"
    )
    parser.add_argument(
        "--twice", action="store_true", help="build all of it again, and compare the bytes"
    )
    chosen = parser.parse_args()
    flavour = FLAVOURS[chosen.flavour]
    products = _build(flavour, pack=not chosen.only_program)
    if chosen.twice:
        first = {path: sha256_of(path) for path in products}
        again = {path: sha256_of(path) for path in _build(flavour, pack=not chosen.only_program)}
        differ = sorted(path.name for path in first if first[path] != again[path])
        sys.stdout.write(
            f"built twice: {', '.join(differ) + ' differ' if differ else 'the same bytes'}\n"
        )
        return 1 if differ else 0
    return 0


def _build(flavour: Flavour, *, pack: bool) -> list[Path]:
    """Build the program and, on Linux, its packages; print their sizes.

    Returns:
        the packages.
    """
    program = build_program(flavour)
    sys.stdout.write(f"{program}: {_size_of(program) / _MB:.0f} MB\n")
    if not pack or not sys.platform.startswith("linux"):
        return []
    from installer.linux import write_packages

    packages = write_packages(flavour, program)
    for package in packages:
        sys.stdout.write(f"{package}: {package.stat().st_size / _MB:.1f} MB\n")
    sums = "".join(f"{sha256_of(package)}  {package.name}\n" for package in packages)
    (PRODUCTS / f"{flavour.package}.sha256").write_text(sums, encoding="ascii")
    return packages


def _size_of(folder: Path) -> int:
    """Total size of the files below a folder, in bytes."""
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


if __name__ == "__main__":
    sys.exit(main())
