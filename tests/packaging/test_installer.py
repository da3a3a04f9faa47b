"""Contents of packages, their licences, and reproducible archives."""

import os
import re
import sys
import tarfile
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from pkgutil import iter_modules

import pytest
from installer import contents, reader_trial
from installer.archive import sha256_of, write_archive
from installer.contents import cuda_libraries, excluded_modules, wanted, wanted_of_engine
from installer.flavours import CPU, FLAVOURS, GPU, TRAINING
from installer.linux import METAINFO, oldest_glibc
from installer.notices import notices
from installer.places import DESKTOP, PACKAGING, ROOT, version

from engine import cli
from engine.cli.commands import COMMANDS

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what is packed on Linux"
)


def test_flavours_need_what_the_program_needs() -> None:
    """Requirements equal pyproject.toml's except for the runtime and torch."""
    names = {
        flavour.name: {re.split(r"[^\w-]", each)[0] for each in flavour.requirements()}
        for flavour in FLAVOURS.values()
    }
    assert {"PySide6-Essentials", "numpy", "pyarrow", "onnxruntime"} <= names["cpu"]
    assert not {"torch", "torchvision", "onnxruntime-gpu"} & names["cpu"]
    assert names["training"] - names["cpu"] == {"torch", "torchvision", "onnxscript", "safetensors"}
    assert names["cpu"] ^ names["gpu"] == {
        "onnxruntime-gpu"
    }  # on macOS there is one runtime for all
    assert "onnxruntime-gpu[cuda,cudnn]; sys_platform != 'darwin'" in GPU.requirements()
    assert len({CPU.package, GPU.package, TRAINING.package}) == 3


def test_only_one_flavour_trains() -> None:
    """Others have neither torch nor modules that import it; none has the paper's experiments."""
    assert "torch" in excluded_modules(trains=False)
    assert "torch" not in excluded_modules(trains=True)
    assert wanted_of_engine("engine.collection.live", trains=False)
    assert not wanted_of_engine("engine.model.backbone", trains=False)
    assert wanted_of_engine("engine.model.backbone", trains=True)
    assert not wanted_of_engine("research.methods", trains=True)


def test_commands_come_along() -> None:
    """They are loaded by name, invisible to PyInstaller: the spec lists the engine's modules."""
    commands_of = {f"engine.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()}
    collected = {
        each.name
        for each in iter_modules(cli.__path__, "engine.cli.")
        if wanted_of_engine(each.name, trains=False)
    }
    assert commands_of <= collected
    assert 'collect_submodules("engine")' in (ROOT / "pyinstaller.spec").read_text(encoding="utf-8")


def test_what_brings_code_under_the_gpl_stays_out() -> None:
    """No package has it, and the program's requirements do not require it."""
    under_gpl = {"av", "pillow_heif"}
    assert all(under_gpl <= set(excluded_modules(trains=trains)) for trains in (False, True))
    assert not {"av", "pillow-heif"} & set(own_dependencies())
    assert "pypdfium2" in set(own_dependencies())


def test_cuda_is_carried_where_the_runtime_looks(tmp_path: Path) -> None:
    """Only the libraries in use, not all of NVIDIA's packages."""
    inside = (
        "cu13/lib/libcublasLt.so.13",
        "cudnn/lib/libcudnn_graph.so.9",
        "cu13/bin/x86_64/cudart64_13.dll",
    )
    for name in (
        *inside,
        "cu13/lib/libcusparse.so.12",
        "cu13/lib/libcudart_static.a",
        "cu13/lib/libnvrtc.alt.so.13",
    ):
        (tmp_path / "nvidia" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nvidia" / name).touch()
    found = cuda_libraries(tmp_path)
    assert {Path(source).relative_to(tmp_path / "nvidia").as_posix() for source, _ in found} == set(
        inside
    )
    assert all(Path(source).parent == tmp_path / folder for source, folder in found)


@on_linux
@pytest.mark.parametrize(
    ("name", "source", "comes"),
    [
        ("libsqlite3.so.0", "/lib/x86_64-linux-gnu/libsqlite3.so.0", True),
        ("libxcb-cursor.so.0", "/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0", True),
        ("libstdc++.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6", False),
        ("libreadline.so.8", "/lib/x86_64-linux-gnu/libreadline.so.8", False),
        (
            "PySide6/Qt/plugins/platforms/libqxcb.so",
            "/venv/PySide6/Qt/plugins/platforms/libqxcb.so",
            True,
        ),
        (
            "PySide6/Qt/plugins/platforms/libqlinuxfb.so",
            "/venv/PySide6/Qt/plugins/platforms/libqlinuxfb.so",
            False,
        ),
        ("PySide6/Qt/plugins/tls/libqopensslbackend.so", "/venv/libqopensslbackend.so", False),
        ("PySide6/Qt/translations/qt_de.qm", "/venv/qt_de.qm", False),
        ("PySide6/Qt/lib/libQt6Network.so.6", "/venv/libQt6Network.so.6", False),
        ("PySide6/Qt/lib/libQt6Widgets.so.6", "/venv/libQt6Widgets.so.6", True),
    ],
)
def test_libraries_of_the_desktop_stay_there(name: str, source: str, comes: bool) -> None:
    """The program has its own libraries, and few of the build computer."""
    assert wanted([(name, source, "BINARY")]) == ([(name, source, "BINARY")] if comes else [])


@pytest.mark.slow
def test_licences_are_those_of_what_is_inside() -> None:
    """Of every package with a file inside and no other; Python's and the LGPL always."""
    import msgspec

    text = notices([str(Path(msgspec.__file__))])
    assert "msgspec" in text
    assert "Redistribution and use in source and binary forms" in text
    assert "networkx" not in text.lower()
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in text
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in text


def test_an_archive_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    """Not on times, order or permissions of files."""
    digests = set()
    for number, names in enumerate((("b", "a/c"), ("a/c", "b"))):
        folder = tmp_path / str(number) / "program"
        (folder / "a").mkdir(parents=True)
        for name in names:
            (folder / name).write_text(name)
            (folder / name).chmod(0o644 if number else 0o600)
            os.utime(folder / name, (number, number))
        (folder / "link").symlink_to("b")
        write_archive(folder, tmp_path / f"{number}.tar.xz", modified=1_700_000_000)
        digests.add(sha256_of(tmp_path / f"{number}.tar.xz"))
    assert len(digests) == 1
    with tarfile.open(tmp_path / "0.tar.xz") as tar:
        assert tar.getnames() == [
            "program",
            "program/a",
            "program/a/c",
            "program/b",
            "program/link",
        ]
        assert tar.getmember("program/link").linkname == "b"
        assert {(member.mtime, member.uid, member.uname) for member in tar} == {
            (1_700_000_000, 0, "")
        }


def test_the_oldest_c_library_is_read_off_the_files(tmp_path: Path) -> None:
    """The highest symbol version."""
    (tmp_path / "libone.so.1").write_bytes(b"\x7fELF\0GLIBC_2.9\0GLIBC_2.17\0")
    (tmp_path / "two.abi3.so").write_bytes(b"\x7fELF\0GLIBC_2.34\0")
    (tmp_path / "words.txt").write_bytes(b"GLIBC_2.99\0")
    assert oldest_glibc(tmp_path) == "2.34"


def test_metadata_names_this_version() -> None:
    """Software centres show it."""
    (release,) = ET.parse(DESKTOP / METAINFO).getroot().iter("release")  # noqa: S314 (our own file)
    assert release.get("version") == version()


def test_the_folder_hides_no_package_of_the_same_name() -> None:
    """The module `packaging` from PyPI is importable as long as this folder is no package."""
    assert not (PACKAGING / "__init__.py").exists()
    assert PACKAGING.parent == ROOT


def test_what_asks_for_its_own_version_finds_it_in_the_program() -> None:
    """A package that reads its own version when imported must have its metadata in the program."""
    wanted = {name for name in own_dependencies() if asks_for_its_version(name)}
    spec = (ROOT / "pyinstaller.spec").read_text(encoding="utf-8")
    assert "fast-sugiyama" in wanted
    assert [name for name in sorted(wanted) if f'"{name}"' not in spec] == []


def own_dependencies() -> Iterator[str]:
    """Names of the program's requirements, without versions and markers."""
    fields = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return (re.split(r"[^\w.-]", entry)[0] for entry in fields["project"]["dependencies"])


def asks_for_its_version(name: str) -> bool:
    """Whether importing a package reads its own version by its module's name."""
    with suppress(PackageNotFoundError):  # of another platform
        found = distribution(name)
        tops = [
            file
            for file in found.files or ()
            if len(file.parts) == 2 and file.name == "__init__.py"
        ]
        texts = [Path(str(found.locate_file(file))).read_text(encoding="utf-8") for file in tops]
        return any(
            re.search(r"^__version__ = .*version\(__name__\)", text, re.MULTILINE) for text in texts
        )
    return False


def test_the_sentences_of_qt_come_along_in_the_languages_of_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in no other; texts of Qt's other programs are left out."""
    (tmp_path / "protoleaf_de.qm").touch()
    monkeypatch.setattr(contents, "TRANSLATIONS", tmp_path)
    folder = "PySide6/Qt/translations"
    entries = [
        (f"{folder}/{name}.qm", f"/venv/{name}.qm", "DATA")
        for name in ("qtbase_de", "qtbase_fr", "qt_de", "designer_de")
    ]
    assert contents.wanted(entries) == entries[:1]


@pytest.mark.slow
@on_linux
def test_a_trial_of_reading_processes_tells_good_from_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal results pass; other pixels, slow results, and threads are refused."""
    monkeypatch.setattr(reader_trial, "ROUNDS", 1)
    reader_trial.make_photos(tmp_path, 8)
    found = reader_trial.read_photos(tmp_path)
    reader_trial.compare(found, found)
    assert "ratio 1.00" in capsys.readouterr().out
    for change in (
        {"answers": ["other"]},
        {"read_by_processes": False},
        {"left": ["worker"]},
        {"images_per_s": 0.1},
    ):
        with pytest.raises(SystemExit):
            reader_trial.compare({**found, **change}, found)
