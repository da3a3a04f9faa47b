"""Licences of everything in a program's folder, as one text.

The packages are taken from PyInstaller's tables, so there is no list to maintain.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageMetadata, PackagePath, distributions
from pathlib import Path

LICENCES = Path(__file__).parents[1] / "licences"
"""Licences that the packages of Qt, libheif and libde265 lack: the LGPL, and the GPL it amends."""
NAME = "THIRD-PARTY-LICENSES.txt"
_LICENCE_WORDS = ("licen", "copying", "notice", "authors", "copyright")
_RULE = "=" * 120
_HEAD = (
    "What this program carries besides its own code, with the licence of each part as its authors "
    "ship it. NOTICE says more\n"
    "about weights and about the libraries under the LGPL.\n"
)


def notices(sources: Iterable[str], ours: Sequence[str] = ("protoleaf",)) -> str:
    """Licence text of a program.

    Args:
        sources: files that went into it.
        ours: distributions that are not third-party.

    Returns:
        one section for each distribution, for Python, and for each system package; the LGPL.
    """
    resolved = {str(Path(source).resolve()) for source in sources if source}
    inside = [found for found in _distributions_of(resolved) if _name(found) not in ours]
    parts = [_part_of(found) for found in sorted(inside, key=_name)]
    parts.append(_of_python())
    parts += [
        _of_system(package, text) for package, text in sorted(_system_packages(resolved).items())
    ]
    parts += [path.read_text(encoding="utf-8") for path in sorted(LICENCES.glob("*.txt"))]
    return "\n".join([_HEAD, *(f"{_RULE}\n{part.rstrip()}\n" for part in parts)])


def _name(distribution: Distribution) -> str:
    return str(distribution.metadata["Name"]).lower()


def _distributions_of(sources: set[str]) -> Iterator[Distribution]:
    for distribution in distributions():
        files = distribution.files or []
        if any(
            str(Path(str(distribution.locate_file(file))).resolve()) in sources for file in files
        ):
            yield distribution


def _part_of(distribution: Distribution) -> str:
    about = distribution.metadata
    licence = (
        _field(about, "License-Expression") or _classified(distribution) or _field(about, "License")
    )
    page = _field(about, "Home-page") or next(
        (line.split(", ", 1)[1] for line in about.get_all("Project-URL") or []), ""
    )
    texts = [
        _text(distribution, file) for file in sorted(distribution.files or []) if _is_licence(file)
    ]
    head = (
        f"{about['Name']} {distribution.version}\nLicence: "
        f"{' '.join(licence.split())[:200]}\n{page}"
    ).rstrip()
    return "\n\n".join([head, *texts])


def _field(about: PackageMetadata, name: str) -> str:
    return str(about[name]) if name in about else ""


def _classified(distribution: Distribution) -> str:
    """Licence according to the classifiers."""
    names = [
        line
        for line in distribution.metadata.get_all("Classifier") or []
        if line.startswith("License")
    ]
    return "; ".join(name.rsplit(" :: ", 1)[1] for name in names)


def _is_licence(file: PackagePath) -> bool:
    """Whether a file of a distribution is a licence text."""
    in_metadata = any(part.endswith(".dist-info") for part in file.parts[:-1])
    stem = file.name.lower()
    if not in_metadata and file.suffix not in {"", ".txt", ".md", ".rst"}:
        return False
    return any(word in stem for word in _LICENCE_WORDS) or "licenses" in file.parts


def _text(distribution: Distribution, file: PackagePath) -> str:
    content = Path(str(distribution.locate_file(file))).read_text(
        encoding="utf-8", errors="replace"
    )
    return f"--- {file}\n\n{content.strip()}"


def _of_python() -> str:
    version = ".".join(str(part) for part in sys.version_info[:3])
    found = [
        Path(sys.base_prefix, *place)
        for place in (("LICENSE.txt",), ("lib", f"python{version[:4]}", "LICENSE.txt"))
    ]
    texts = [path.read_text(encoding="utf-8").strip() for path in found if path.is_file()]
    return "\n\n".join([f"Python {version}\nLicence: PSF-2.0\nhttps://www.python.org", *texts[:1]])


def _system_packages(sources: set[str]) -> Mapping[str, str]:
    """Copyright texts of the Debian packages that files came from; empty on other systems."""
    found: dict[str, str] = {}
    if not Path("/usr/bin/dpkg-query").is_file():
        return found
    for source in sorted(each for each in sources if each.startswith(("/lib", "/usr/lib"))):
        asked = subprocess.run(
            ["dpkg-query", "--search", source], check=False, capture_output=True, text=True
        )
        if asked.returncode:  # dpkg lists some files below /usr/lib under /lib
            asked = subprocess.run(
                ["dpkg-query", "--search", source.removeprefix("/usr")],
                check=False,
                capture_output=True,
                text=True,
            )
        package = asked.stdout.split(":")[0]
        text = Path("/usr/share/doc", package, "copyright")
        if package and text.is_file():
            found[package] = text.read_text(encoding="utf-8", errors="replace")
    return found


def _of_system(package: str, text: str) -> str:
    return f"{package}, a library of Debian\n\n{text.strip()}"
