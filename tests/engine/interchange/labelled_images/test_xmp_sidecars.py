"""Sidecars carry keywords for photo programs, and keep whatever other programs put into them.

`make readers` has exiftool read them; here stand the rules.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from engine.collection.importing.import_labels import plan_labels
from engine.errors import Cancelled
from engine.exporting.export import ExportChoice, Which, export_images
from engine.interchange.labelled_images import xmp_sidecars
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.records import WrittenExport
from engine.interchange.labelled_images.xmp_sidecars import HIERARCHICAL, SUBJECT, TAGS
from engine.interchange.xmp_packet import XmpPacket
from tests.support.labelled_images import ORGAN, Labelled

FOREIGN = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<!-- by another program -->
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Other 5.1">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" crs:Exposure="+0.35" \
crs:Note="two&#10;lines &amp; more">
   <dc:subject><rdf:Bag><rdf:li>concert</rdf:li><rdf:li>Organ</rdf:li></rdf:Bag></dc:subject>
   <crs:ToneCurve><rdf:Seq><rdf:li>0, 0</rdf:li><rdf:li>255, 255</rdf:li></rdf:Seq></crs:ToneCurve>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


def exported(music: Labelled, out: Path, which: Which = Which.ALL) -> WrittenExport:
    return export_images(
        music.project,
        music.answers,
        ExportChoice("xmp", out, which),
        model="leafnet",
        setting="ppn+",
    )


def packet(sidecar: Path) -> XmpPacket:
    return XmpPacket.parse(sidecar.read_bytes(), sidecar.name)


def photos(music: Labelled) -> Path:
    return music.project.path.parent / "photos"


def plain(data: str | bytes) -> bytes:
    """XML in its canonical form without blanks between elements."""
    root = etree.fromstring(
        data if isinstance(data, bytes) else data.encode(), etree.XMLParser(remove_blank_text=True)
    )
    return bytes(etree.tostring(root.getroottree(), method="c14n"))


def test_keywords_for_each_program(music: Labelled, tmp_path: Path) -> None:
    """Along every path of a class; separators of a program are replaced in names."""
    done = exported(music, tmp_path / "out")
    assert (done.images, done.left_out, done.failures) == (7, {"no class": 1}, ())
    organ = packet(tmp_path / "out/day 1/organ.png.xmp")
    assert organ.texts(HIERARCHICAL) == ["Keyboard|Organ", "Wind|Organ"]
    assert organ.texts(TAGS) == ["Keyboard/Organ", "Wind/Organ"]
    assert organ.texts(SUBJECT) == ["Keyboard", "Organ", "Wind"]
    assert packet(tmp_path / 'out/day 1/=odd, "name" ü.png.xmp').texts(TAGS) == ["Trio: A_B?"]
    assert not list(photos(music).rglob("*.xmp"))


def test_only_chosen_answers(music: Labelled, tmp_path: Path) -> None:
    """What the model only supposes is written on request."""
    exported(music, tmp_path / "out", Which.VERIFIED)
    names = {path.name for path in (tmp_path / "out").rglob("*.xmp")}
    assert names == {"piano.png.xmp", "organ.png.xmp", "none.png.xmp", '=odd, "name" ü.png.xmp'}


def test_sidecars_beside_their_images(music: Labelled) -> None:
    """With any folder above; images are unchanged, and a second export changes nothing."""
    images = {path: path.read_bytes() for path in photos(music).rglob("*.png")}
    sidecar = photos(music) / "day 1/organ.png.xmp"
    for out in ("", "photos", "photos/day 1"):
        sidecar.unlink(missing_ok=True)
        exported(music, music.project.path.parent / out)
        assert packet(sidecar).texts(TAGS)
        before = sidecar.stat()
        exported(music, music.project.path.parent / out)
        assert (sidecar.stat().st_mtime_ns, sidecar.stat().st_ino) == (
            before.st_mtime_ns,
            before.st_ino,
        )
    assert {path: path.read_bytes() for path in photos(music).rglob("*.png")} == images


def test_what_others_wrote_stays(music: Labelled) -> None:
    """Contents of other programs stay; ours are removed with the label."""
    sidecar = photos(music) / "day 1/organ.png.xmp"
    sidecar.write_text(FOREIGN, encoding="utf-8")
    exported(music, photos(music))
    data = sidecar.read_bytes()
    assert packet(sidecar).texts(SUBJECT) == ["concert", "Organ", "Keyboard", "Wind"]
    assert b"<!-- by another program -->" in data
    assert b"<?xpacket end=" in data
    music.project.labels.remove([music.images["organ.png"]])
    assert exported(music, photos(music)).left_out == {"no class": 2}
    assert plain(sidecar.read_bytes()) == plain(FOREIGN)


def test_another_label_replaces_our_keywords(music: Labelled) -> None:
    exported(music, photos(music))
    music.project.labels.set([music.images["organ.png"]], music.ids["Flute"], who="ada")
    exported(music, photos(music))
    changed = packet(photos(music) / "day 1/organ.png.xmp")
    assert changed.texts(TAGS) == ["Wind/Flute"]
    assert changed.texts(SUBJECT) == ["Wind", "Flute"]


def test_names_follow_what_is_there(music: Labelled) -> None:
    """Names of Lightroom, or of digiKam and darktable; a RAW's sidecar is not its JPEG's."""
    folder = photos(music) / "day 1"
    for there, expected in (
        ((), "organ.png.xmp"),
        (("organ.xmp",), "organ.xmp"),
        (("organ.xmp", "organ.png.xmp"), "organ.png.xmp"),
        (("flute.xmp",), "organ.xmp"),
        (("flute.png.xmp",), "organ.png.xmp"),
        (("organ.nef", "organ.xmp"), "organ.png.xmp"),
    ):
        for path in {*folder.iterdir()} - {*folder.glob("*.png")}:
            path.unlink()
        for name in there:
            (folder / name).write_text(FOREIGN, encoding="utf-8")
        exported(music, photos(music), Which.VERIFIED)
        ours = [
            path.name for path in folder.glob("organ*.xmp") if path.read_bytes() != FOREIGN.encode()
        ]
        assert ours == [expected], there


def test_a_sidecar_that_cannot_be_read_is_left(music: Labelled) -> None:
    """It is reported; the others are written."""
    sidecar = photos(music) / "day 1/organ.png.xmp"
    for content in (
        b"",
        b"no xml",
        b"<a/>",
        b'<!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>',
        FOREIGN.encode()[:400],
    ):
        sidecar.write_bytes(content)
        done = exported(music, photos(music))
        assert [failure.path.name for failure in done.failures] == ["organ.png"]
        assert sidecar.read_bytes() == content
        assert done.images == 6
    assert len(xmp_sidecars.read(photos(music)).labels) == 6


def test_a_stopped_export_leaves_whole_sidecars(music: Labelled) -> None:
    """And the next one writes the rest."""
    left = [3]

    def stop_after_three() -> None:
        left[0] -= 1
        if not left[0]:
            raise Cancelled

    with pytest.raises(Cancelled):
        xmp_sidecars.write(
            replace(music.gathered(), on_image=stop_after_three), photos(music), FolderOptions()
        )
    first = list(photos(music).rglob("*.xmp"))
    assert len(first) == 3
    assert all(packet(sidecar).values(xmp_sidecars.OWN) for sidecar in first)
    (photos(music) / "day 0/.0123.protoleaf-new").write_bytes(b"left by one that was killed")
    exported(music, photos(music))
    assert len(list(photos(music).rglob("*.xmp"))) == 7
    assert not list(photos(music).rglob(".*"))


def test_no_folder_is_made_where_images_are_gone(music: Labelled) -> None:
    """As when a disk is unplugged."""
    folder = photos(music) / "day 1"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    done = exported(music, photos(music))
    assert not folder.exists()
    assert len(done.failures) == 4


def test_labels_come_back_from_sidecars_that_were_moved(music: Labelled, tmp_path: Path) -> None:
    """By the image beside them or by its content; the model's answers stay the model's."""
    exported(music, photos(music))
    moved = music.project.path.parent / "elsewhere"
    photos(music).rename(moved)
    plan = plan_labels(music.project, moved)
    assert (plan.format_name, plan.already_there, plan.by_machine) == ("xmp", 4, 3)
    lone = plan_labels(music.project, moved / "day 1/organ.png.xmp")
    assert (lone.already_there, lone.missing_images) == (1, ())
    assert ORGAN in packet(moved / "day 1/organ.png.xmp").texts(SUBJECT)
