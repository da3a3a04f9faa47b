"""Malicious and damaged archives are refused with a clear error, leaving no files."""

import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.archive.layout import ABOUT, EMBEDDINGS, portable_part
from engine.archive.pack import pack_project
from engine.archive.unpack import archive_facts, project_in, unpack_project
from engine.config import CacheFolders
from engine.errors import FormatError, ProjectDamagedError, ProtoleafError, StorageError
from engine.files import FoundFile
from engine.merging.planning import open_other
from engine.project import Project
from tests.support.archives import Change, contents_of, tampered, unchanged, wide_project
from tests.support.collections import cache_of_test


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A valid archive of two photos."""
    with wide_project(tmp_path / "ada", 2) as project:
        pack_project(project, cache_of_test(), tmp_path / "trip.protoleafz")
    return tmp_path / "trip.protoleafz"


def unpacked(archive: Path, tmp_path: Path) -> Path:
    """The target of unpacking, in an empty folder."""
    target = tmp_path / "target"
    target.mkdir()
    unpack_project(archive, target / "there", CacheFolders(tmp_path / "caches"))
    return target / "there"


def is_refused(
    archive: Path, tmp_path: Path, reason: str, kind: type[ProtoleafError] = FormatError
) -> None:
    """By every reader, without files in the target or elsewhere."""
    before = {path for path in tmp_path.rglob("*") if "caches" not in path.parts}
    with pytest.raises(kind, match=reason):
        unpacked(archive, tmp_path)
    after = {path for path in tmp_path.rglob("*") if "caches" not in path.parts}
    assert after - before == {tmp_path / "target"}


def with_entry(
    archive: Path, target: Path, info: zipfile.ZipInfo | str, data: bytes = b"x"
) -> Path:
    """An archive with one more file."""
    tampered(archive, target, unchanged)
    with zipfile.ZipFile(target, "a") as opened:
        opened.writestr(info, data)
    return target


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "../evil.jpg",
        "site A/../../evil.jpg",
        "/tmp/evil.jpg",  # noqa: S108
        "C:\\evil.jpg",
        "a\\..\\..\\evil.jpg",
    ],
)
def test_names_that_lead_elsewhere_are_refused(archive: Path, tmp_path: Path, name: str) -> None:
    is_refused(
        with_entry(archive, tmp_path / "bad.protoleafz", name), tmp_path, "outside of its folder"
    )


@pytest.mark.slow
def test_a_link_is_refused(archive: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("site A/link.jpg")
    link.external_attr = 0o120777 << 16
    bad = with_entry(archive, tmp_path / "bad.protoleafz", link, b"/etc/passwd")
    is_refused(bad, tmp_path, r"has a link to another file \(site A/link.jpg\)")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(archive: Path, tmp_path: Path) -> None:
    is_refused(
        with_entry(archive, tmp_path / "bad.protoleafz", "site A/IMG_0.jpg"),
        tmp_path,
        "two files of one name",
    )


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(archive: Path, tmp_path: Path) -> None:
    info = zipfile.ZipInfo("site A/zeros.png")
    info.compress_type = zipfile.ZIP_DEFLATED
    bad = with_entry(archive, tmp_path / "bad.protoleafz", info, b"\0" * (64 << 20))
    assert bad.stat().st_size < 1 << 20
    is_refused(bad, tmp_path, "a small file in it would become a very large one")


@pytest.mark.slow
def test_an_encrypted_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    data = bytearray(archive.read_bytes())
    place = data.find(b"PK\x01\x02")
    (flags,) = struct.unpack_from("<H", data, place + 8)
    struct.pack_into("<H", data, place + 8, flags | 1)
    (tmp_path / "bad.protoleafz").write_bytes(data)
    is_refused(tmp_path / "bad.protoleafz", tmp_path, "it is encrypted")


def test_half_a_download_is_refused(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    (tmp_path / "bad.protoleafz").write_bytes(whole[: len(whole) // 2])
    is_refused(
        tmp_path / "bad.protoleafz", tmp_path, "is not a copy of a Protoleaf project, or is damaged"
    )


def test_another_zip_is_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.protoleafz", "w") as out:
        out.writestr("notes.txt", "hello")
    is_refused(tmp_path / "bad.protoleafz", tmp_path, "is not a copy of a Protoleaf project")
    with pytest.raises(FormatError, match="is not a copy of a Protoleaf project"):
        open_other(tmp_path / "ada" / "trip.protoleaf", tmp_path / "bad.protoleafz")


def test_what_is_not_there_or_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no"):
        archive_facts(tmp_path / "none.protoleafz")
    (tmp_path / "text.protoleafz").write_text("hello")
    with pytest.raises(FormatError, match="is not a copy"):
        archive_facts(tmp_path / "text.protoleafz")
    with pytest.raises(StorageError, match="cannot be read"):
        archive_facts(tmp_path)


def about(change: Callable[[dict[str, object]], object]) -> Change:
    """Change the manifest of an archive."""

    def changed(info: zipfile.ZipInfo, data: bytes) -> tuple[zipfile.ZipInfo, bytes]:
        if info.filename != ABOUT:
            return info, data
        found = json.loads(data)
        change(found)
        return info, json.dumps(found).encode()

    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda found: found.update(form=2, program="Protoleaf 9"),
            "newer version.*Protoleaf 9.*Update Protoleaf",
        ),
        (lambda found: found.update(project="../trip.protoleaf"), "is not a copy"),
        (lambda found: found.update(project="other.protoleaf"), "there is no project in it"),
        (lambda found: found.update(project="x" * 5_000 + ".protoleaf"), "is not a copy"),
        (lambda found: found.update(images=-1), "is not a copy"),
        (lambda found: found.update(made_by=["x"]), "is not a copy"),
        (lambda found: found.pop("made_at"), "is not a copy"),
    ],
)
def test_a_description_that_is_none_is_refused(
    archive: Path, tmp_path: Path, change: Callable[[dict[str, object]], object], reason: str
) -> None:
    is_refused(tampered(archive, tmp_path / "bad.protoleafz", about(change)), tmp_path, reason)


def test_a_damaged_photo_is_left_out_and_named(archive: Path, tmp_path: Path) -> None:
    data = bytearray(archive.read_bytes())
    place = data.find(b"site A/IMG_1.jpg") + 5_000
    data[place : place + 100] = bytes(100)
    archive.write_bytes(data)
    done = unpack_project(archive, tmp_path / "there", CacheFolders(tmp_path / "caches"))
    assert (done.photos, [str(each.path) for each in done.failures]) == (1, ["site A/IMG_1.jpg"])
    assert "CRC" in done.failures[0].reason
    assert not (tmp_path / "there" / "site A" / "IMG_1.jpg").exists()


def test_a_damaged_project_is_refused(archive: Path, tmp_path: Path) -> None:
    def damaged(info: zipfile.ZipInfo, data: bytes) -> tuple[zipfile.ZipInfo, bytes]:
        return info, b"SQLite" + data[6:1000] if info.filename == "trip.protoleaf" else data

    bad = tampered(archive, tmp_path / "bad.protoleafz", damaged)
    is_refused(bad, tmp_path, "damaged", ProjectDamagedError)
    with pytest.raises(ProjectDamagedError, match="damaged"):
        open_other(tmp_path / "ada" / "trip.protoleaf", bad)


def project_with(archive: Path, tmp_path: Path, *paths: str) -> Path:
    """An archive whose project has further images with any paths, and files for them."""
    with project_in(archive) as inside:
        copy = tmp_path / "made" / inside.name
        copy.parent.mkdir()
        copy.write_bytes(inside.read_bytes())
    with Project.open(copy, is_backed_up=False) as project:
        project.images.add([FoundFile(copy.parent / path, 1, 1) for path in paths])

    def replaced(info: zipfile.ZipInfo, data: bytes) -> tuple[zipfile.ZipInfo, bytes]:
        return info, copy.read_bytes() if info.filename == copy.name else data

    added = {path: b"evil" for path in paths if not path.startswith(("/", "."))}
    return tampered(archive, tmp_path / "bad.protoleafz", replaced, **added)


@pytest.mark.slow
def test_only_photos_come_out(archive: Path, tmp_path: Path) -> None:
    """No SQLite journal, program or unlisted file, and nothing outside the target."""
    paths = (
        "trip.protoleaf-journal",
        "TRIP.protoleaf-wal",
        "run.exe",
        "start.desktop",
        "con.jpg",
        "/etc/hosts.jpg",
    )
    bad = project_with(archive, tmp_path, *paths)
    with zipfile.ZipFile(bad, "a") as opened:
        opened.writestr("unnamed.jpg", b"evil")
    there = unpacked(bad, tmp_path)
    files = sorted(
        path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()
    )
    assert files == ["site A/IMG_0.jpg", "site A/IMG_1.jpg", "trip.protoleaf"]
    assert not any(os.access(path, os.X_OK) for path in there.rglob("*.*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"", b"odd", b"\xff" * 4096])
def test_embeddings_that_are_none_are_passed_over(
    archive: Path, tmp_path: Path, data: bytes
) -> None:
    """Invalid embeddings are ignored and the photos embedded again."""
    assert EMBEDDINGS not in contents_of(archive)
    there = unpacked(
        tampered(archive, tmp_path / "bad.protoleafz", unchanged, **{EMBEDDINGS: data}), tmp_path
    )
    assert (there / "trip.protoleaf").is_file()


@pytest.mark.parametrize(
    ("name", "portable"),
    [
        ("a.jpg", "a.jpg"),
        ("a:b?.jpg", "a_b_.jpg"),
        ("end. .", "end"),
        ("..", "_"),
        ("NUL", "_NUL"),
        ("com1.jpg", "_com1.jpg"),
        ("ü 日本.jpg", "ü 日本.jpg"),
        ("x" * 300 + ".jpg", "x" * 196 + ".jpg"),
        ("\udcff.jpg", "_.jpg"),
        ("." * 300, "_"),
    ],
)
def test_portable_names(name: str, portable: str) -> None:
    assert portable_part(name) == portable
