"""Keywords of photos become labels where they name a class; others are reported."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from engine.collection.importing.class_reading import KeywordClasses, KeywordMeaning
from engine.collection.importing.import_labels import import_labels, plan_labels
from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.labelled_images.foreign_labels import distinct_keywords
from engine.interchange.labelled_images.formats import detect
from tests.support.labelled_images import Labelled, labelled_project


@pytest.fixture
def music(tmp_path: Path) -> Iterator[Labelled]:
    labelled = labelled_project(tmp_path / "collection")
    yield labelled
    labelled.project.close()


def packet(
    *, flat: tuple[str, ...] = (), lightroom: tuple[str, ...] = (), digikam: tuple[str, ...] = ()
) -> bytes:
    def bag(name: str, words: tuple[str, ...]) -> str:
        items = "".join(f"<rdf:li>{word}</rdf:li>" for word in words)
        return f"<{name}><rdf:Bag>{items}</rdf:Bag></{name}>" if words else ""

    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:lr="http://ns.adobe.com/lightroom/1.0/" '
        'xmlns:digiKam="http://www.digikam.org/ns/1.0/">'
        f"{bag('dc:subject', flat)}{bag('lr:hierarchicalSubject', lightroom)}"
        f"{bag('digiKam:TagsList', digikam)}"
        "</rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()


def tag(music: Labelled, name: str, data: bytes) -> Path:
    """Write a sidecar next to an image."""
    image = music.project.images.resolve(music.project.images.record(music.images[name]))
    sidecar = image.with_name(f"{image.name}.xmp")
    sidecar.write_bytes(data)
    return sidecar


def photos(music: Labelled) -> Path:
    return music.project.path.parent / "photos"


def test_keywords_become_labels(music: Labelled) -> None:
    """The deepest matching keyword, by name or path; the rest is reported with its count."""
    tag(
        music,
        "flute.png",
        packet(flat=("Wind", "Flute", "holiday"), lightroom=("Music|Wind|Flute",)),
    )
    tag(music, "coarse.png", packet(flat=("keyboard", "holiday")))
    tag(
        music, "unsure.png", packet(digikam=("Wind/Oboe", "Places/Berlin"), flat=("Oboe", "Berlin"))
    )
    assert detect(photos(music)) == "keywords"
    plan = plan_labels(music.project, photos(music), who="ada")
    classes = {
        Path(music.project.images.record(each.image_id).path).name: each.class_id
        for each in plan.labels
    }
    assert classes == {
        "flute.png": music.ids["Flute"],
        "coarse.png": music.ids["Keyboard"],
        "unsure.png": music.ids["Wind"],
    }
    assert {each.who for each in plan.labels} == {"ada"}
    assert plan.suggestions == {"holiday": 2}
    assert plan.new_classes == {("Wind", "Oboe"): 1, ("Places", "Berlin"): 1}
    assert (plan.unlabelled, plan.missing_images) == (5, ())


def test_classes_are_made_of_hierarchical_keywords(music: Labelled) -> None:
    """Below the class that the keyword starts with, in one undoable step."""
    tag(music, "unsure.png", packet(digikam=("Instruments/Wind/Oboe",), flat=("holiday",)))
    before = len(music.project.classes.graph)
    done = import_labels(music.project, photos(music), adds_classes=True)
    assert (done.labelled, done.classes_added) == (1, 1)
    label = music.project.labels.of(music.images["unsure.png"])
    assert label is not None
    assert label.class_id is not None
    assert music.project.classes.graph.path_text(label.class_id) == "Wind/Oboe"
    music.project.history.undo()
    assert len(music.project.classes.graph) == before


def test_keywords_inside_of_images_count_too(music: Labelled, tmp_path: Path) -> None:
    """New images are added on request; a folder of them must be given."""
    folder = tmp_path / "shared"
    folder.mkdir()
    Image.new("RGB", (20, 20), (9, 8, 7)).save(
        folder / "new.jpg", xmp=packet(flat=("Piano", "home"))
    )
    Image.new("RGB", (20, 20), (1, 8, 7)).save(folder / "other.jpg", xmp=packet(flat=("home",)))
    with pytest.raises(FormatError, match="none of the formats"):
        detect(folder)
    done = import_labels(music.project, folder, format_name="keywords", adds_images=True)
    assert (done.labelled, done.images_added, done.plan.suggestions) == (1, 1, {"home": 2})


def test_our_own_keywords_are_nobodys(music: Labelled) -> None:
    """Keywords written by the program are not imported as labels; others in the sidecar are."""
    tag(music, "flute.png", packet(flat=("Piano",)))
    export_images(music.project, music.answers, ExportChoice("xmp", photos(music), Which.ALL))
    _, found = read_labels(photos(music), "keywords")
    assert [(label.image, label.names) for label in found.labels] == [
        ("day 1/flute.png", ("Piano",))
    ]


def test_two_classes_on_one_photo_are_listed(music: Labelled) -> None:
    tag(music, "flute.png", packet(flat=("Piano", "Flute")))
    plan = plan_labels(music.project, photos(music))
    assert [(each.ours, each.theirs) for each in plan.contradictions] == [
        ("Keyboard/Piano", "Wind/Flute")
    ]


def test_sidecars_of_lightroom_say_of_which_photo_they_are(music: Labelled, tmp_path: Path) -> None:
    """`flute.xmp` next to two files of that name, and in a folder without photos."""
    sidecar = packet(flat=("Flute",)).replace(
        b"<dc:subject>",
        b"<p:SidecarForExtension "
        b'xmlns:p="http://ns.adobe.com/photoshop/1.0/">PNG</p:SidecarForExtension><dc:subject>',
    )
    photo = music.project.images.resolve(music.project.images.record(music.images["flute.png"]))
    photo.with_suffix(".arw").write_bytes(b"raw")
    photo.with_suffix(".xmp").write_bytes(sidecar)
    apart = tmp_path / "sidecars" / photo.parent.name / "flute.xmp"
    apart.parent.mkdir(parents=True)
    apart.write_bytes(sidecar)
    for folder in (photos(music), tmp_path / "sidecars"):
        plan = plan_labels(music.project, folder, format_name="keywords")
        assert [each.image_id for each in plan.labels] == [music.images["flute.png"]]


def test_a_damaged_sidecar_is_reported(music: Labelled) -> None:
    tag(music, "flute.png", b"<x")
    tag(music, "coarse.png", packet(flat=("Wind",)))
    plan = plan_labels(music.project, photos(music))
    assert len(plan.labels) == 1
    assert "flute.png.xmp" in plan.problems[0]


def test_a_single_photo_or_sidecar(music: Labelled) -> None:
    sidecar = tag(music, "flute.png", packet(flat=("Flute",)))
    for source in (sidecar, sidecar.with_suffix("")):
        plan = plan_labels(music.project, source, format_name="keywords")
        assert [each.image_id for each in plan.labels] == [music.images["flute.png"]]
    assert detect(sidecar) == "keywords"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Gull",), KeywordMeaning(3)),
        (("gull",), KeywordMeaning(3)),
        (("Laridae",), KeywordMeaning(3)),
        (("n01531178",), KeywordMeaning(3)),
        (("17",), KeywordMeaning()),
        (("Animal", "Bird", "Gull"), KeywordMeaning(3)),
        (("Nature", "Gull"), KeywordMeaning(3)),
        (("Nature", "Bird", "Tern"), KeywordMeaning(2, ("Animal", "Bird", "Tern"))),
        (("Places", "Berlin"), KeywordMeaning(None, ("Places", "Berlin"))),
        (("holiday",), KeywordMeaning()),
        (("Crane",), KeywordMeaning(several=("Animal/Bird/Crane", "Machine/Crane"))),
        (("Machine", "Crane"), KeywordMeaning(6)),
    ],
)
def test_what_a_keyword_means(names: tuple[str, ...], expected: KeywordMeaning) -> None:
    graph = CategoryGraph()
    animal = graph.add_class("Animal")
    bird = graph.add_class("Bird", (animal,))
    graph.add_class("Gull", (bird,), attributes=ClassAttributes("n01531178", ("Laridae",)))
    graph.add_class("Crane", (bird,), attributes=ClassAttributes("17"))
    graph.add_class("Crane", (graph.add_class("Machine"),))
    assert KeywordClasses(graph).meaning(names) == expected


def test_keywords_that_repeat_others() -> None:
    """Prefixes and components of hierarchical keywords, and internal keywords of programs."""
    deep = [("Animal",), ("Animal", "Bird"), ("Animal", "Bird"), ("darktable", "exported")]
    assert distinct_keywords(deep, ["Bird", "sea", "sea", "Animal"]) == [
        ("Animal", "Bird"),
        ("sea",),
    ]
