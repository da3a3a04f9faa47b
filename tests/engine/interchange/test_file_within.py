"""A list from outside names files beside it, and leads nowhere else."""

import json
import zipfile
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.interchange.archives import file_within
from engine.interchange.detect import read_graph
from engine.interchange.labelled_images import camtrap_dp_reading, darwin_core

META = """<archive xmlns="http://rs.tdwg.org/dwc/text/">\
<core rowType="http://rs.tdwg.org/dwc/terms/{}"
 ignoreHeaderLines="1"><files><location>{}</location></files><id index="0"/>
 <field index="1" term="http://rs.tdwg.org/dwc/terms/scientificName"/></core></archive>"""
OUTSIDE = [
    "../secret.csv",
    "a/../../secret.csv",
    "{absolute}",
    "..\\secret.csv",
    "C:secret.csv",
    "//host/secret.csv",
    "",
]
REFUSED = "names a file outside of its folder|names no file|cannot be understood"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a file beside it that nobody chose."""
    (tmp_path / "secret.csv").write_text(
        "id,scientificName,mediaID,filePath\n1,Secret,1,a.jpg\n2,Hidden,2,b.jpg\n"
    )
    (tmp_path / "chosen").mkdir()
    return tmp_path / "chosen"


def _name(name: str, folder: Path) -> str:
    return name.replace("{absolute}", str(folder.parent / "secret.csv"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_checklist(folder: Path, name: str) -> None:
    (folder / "meta.xml").write_text(META.format("Taxon", _name(name, folder)))
    with pytest.raises(FormatError, match=REFUSED):
        read_graph(folder)


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_archive_of_occurrences(folder: Path, name: str) -> None:
    path = folder / "labels.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("meta.xml", META.format("Occurrence", _name(name, folder)))
    with pytest.raises(FormatError, match=REFUSED):
        darwin_core.read(path)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_data_package(folder: Path, name: str) -> None:
    resources = [{"name": each, "path": _name(name, folder)} for each in ("media", "observations")]
    (folder / "datapackage.json").write_text(
        json.dumps({"profile": "camtrap-dp", "resources": resources})
    )
    with pytest.raises(FormatError, match=REFUSED):
        camtrap_dp_reading.read(folder)


def test_a_link(folder: Path) -> None:
    (folder / "taxa.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "meta.xml").write_text(META.format("Taxon", "taxa.csv"))
    with pytest.raises(FormatError, match=REFUSED):
        read_graph(folder)


def test_a_file_below(folder: Path) -> None:
    """A folder within is the list's own; a name of nothing is reported."""
    (folder / "tables").mkdir()
    (folder / "tables" / "taxa.csv").write_text("id,scientificName\n1,Gull\n")
    assert file_within(folder, "tables/taxa.csv", "meta.xml").is_file()
    with pytest.raises(FormatError, match="names a file that is not there"):
        file_within(folder, "taxa.csv", "meta.xml")
