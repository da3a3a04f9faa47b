"""Linux packages: a Debian package and a portable archive."""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from installer.archive import write_archive
from installer.flavours import CPU, FLAVOURS, Flavour
from installer.icons import SIZES, draw_icon
from installer.places import BUILD, DESKTOP, ICON, PACKAGING, PRODUCTS, ROOT, commit_time, version

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian architectures by machine name (`uname -m`)."""
METAINFO = "io.github.protoleaf.protoleaf.metainfo.xml"
_ICONS = {
    "apps/protoleaf": ICON,
    "mimetypes/application-x-protoleaf": DESKTOP / "application-x-protoleaf.svg",
}
_KIB = 1024


def write_packages(flavour: Flavour, program: Path) -> list[Path]:
    """Pack a program's folder.

    Returns:
        the Debian package and the archive.
    """
    PRODUCTS.mkdir(exist_ok=True)
    name = f"{flavour.package}_{version()}_{architecture()}"
    return [
        _debian_package(flavour, program, PRODUCTS / f"{name}.deb"),
        _portable(flavour, program, PRODUCTS / f"{name}.tar.xz"),
    ]


def oldest_glibc(folder: Path) -> str:
    """Oldest glibc version that has every symbol that the program's libraries require."""
    asked = {
        int(minor)
        for path in folder.rglob("*")
        if _is_plain(path) and (".so" in path.name or path.name == "protoleaf")
        for minor in re.findall(rb"GLIBC_2\.(\d+)\0", path.read_bytes())
    }
    return f"2.{max(asked)}"


def architecture() -> str:
    """Debian architecture of this computer."""
    return ARCHITECTURE[os.uname().machine]


def _portable(flavour: Flavour, program: Path, target: Path) -> Path:
    folder = BUILD / flavour.name / f"{flavour.package}-{version()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program, folder, symlinks=True, copy_function=os.link)
    text = (PACKAGING / "linux/READ-ME.txt").read_text(encoding="utf-8")
    (folder / "READ-ME.txt").write_text(
        text.replace("@GLIBC@", oldest_glibc(program)), encoding="utf-8"
    )
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    write_archive(folder, target, modified=commit_time())
    return target


def _debian_package(flavour: Flavour, program: Path, target: Path) -> Path:
    tree = BUILD / flavour.name / "debian"
    shutil.rmtree(tree, ignore_errors=True)
    share = tree / "usr/share"
    shutil.copytree(program, tree / "usr/lib/protoleaf", symlinks=True, copy_function=os.link)
    command = tree / "usr/bin/protoleaf"
    command.parent.mkdir()
    command.symlink_to("../lib/protoleaf/protoleaf")
    _copy(DESKTOP / "protoleaf.desktop", share / "applications/protoleaf.desktop")
    _copy(DESKTOP / "protoleaf.xml", share / "mime/packages/protoleaf.xml")
    _copy(DESKTOP / METAINFO, share / "metainfo" / METAINFO)
    _write_icons(share / "icons/hicolor")
    documents = share / "doc" / flavour.package
    _copy(PACKAGING / "linux/copyright", documents / "copyright")
    _copy(ROOT / "NOTICE", documents / "NOTICE")
    _packed(ROOT / "CHANGELOG.md", documents / "changelog.gz")
    _packed(PACKAGING / "linux/protoleaf.1", share / "man/man1/protoleaf.1.gz")
    _write_control(flavour, tree)
    _settle(tree)
    build = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", str(tree), str(target)]
    subprocess.run(build, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(commit_time())})
    return target


def _write_icons(theme: Path) -> None:
    for name, source in _ICONS.items():
        _copy(source, theme / "scalable" / f"{name}.svg")
        for side in SIZES:
            draw_icon(source, theme / f"{side}x{side}" / f"{name}.png", side)


def _write_control(flavour: Flavour, tree: Path) -> None:
    """Write the package's control files from the template."""
    size = sum(
        path.stat().st_size for path in tree.rglob("*") if path.is_file() and not path.is_symlink()
    )
    others = sorted(other.package for other in FLAVOURS.values() if other is not flavour)
    fields = {
        "PACKAGE": flavour.package,
        "VERSION": version(),
        "ARCHITECTURE": architecture(),
        "SIZE": str(size // _KIB),
        "OTHERS": ", ".join(others),
        "PROVIDES": "" if flavour is CPU else f"Provides: {CPU.package}\n",
        "SUMMARY": flavour.summary,
        "GLIBC": oldest_glibc(tree),
    }
    text = (PACKAGING / "linux/control.in").read_text(encoding="utf-8")
    for name, value in fields.items():
        text = text.replace(f"@{name}@", value)
    control = tree / "DEBIAN/control"
    control.parent.mkdir()
    control.write_text(text, encoding="utf-8")
    sums = [
        f"{_md5(path)}  {path.relative_to(tree).as_posix()}"
        for path in sorted(tree.rglob("usr/**/*"))
        if _is_plain(path)
    ]
    (tree / "DEBIAN/md5sums").write_text("\n".join(sums) + "\n", encoding="utf-8")


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _md5(path: Path) -> str:
    """MD5 of a file for dpkg, which detects damage, not tampering."""
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _settle(tree: Path) -> None:
    """Set the permissions of Debian's policy and one modification time, for reproducible builds."""
    modified = commit_time()
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (modified, modified), follow_symlinks=False)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _packed(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(source.read_bytes(), mtime=0))
