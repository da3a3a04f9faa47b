"""Label Studio's labelling interface."""

from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import read_graph
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from engine.interchange.taxonomies import class_lists

INTERFACE = """<!-- of the birds -->
<View>
  <Image name="image" value="$image"/>
  <Choices name="quality" toName="image"><Choice value="blurred"/></Choices>
  <Taxonomy name="birds" toName="image">
    <!-- by the sea -->
    <Choice value="Bird" alias="b1" hint="With feathers">
      <Choice value="Gull"/>
      <Choice value="Auk"><Choice value="Puffin"/></Choice>
    </Choice>
    <Choice value="Plant"/>
    <Choice value="(none of these)"/>
  </Taxonomy>
</View>
"""


def written(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "interface.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_taxonomy(tmp_path: Path) -> None:
    """Its choices alone, one within another; comments are none."""
    graph = read_graph(written(tmp_path, INTERFACE.replace("(none of these)", NONE_LABEL)))
    assert [each.key for each in graph.classes] == [
        "Bird",
        "Bird/Gull",
        "Bird/Auk",
        "Bird/Auk/Puffin",
        "Plant",
    ]
    assert graph.classes[0].attributes == ClassAttributes("b1", note="With feathers")
    assert graph.edges == (
        ("Bird", "Bird/Gull"),
        ("Bird", "Bird/Auk"),
        ("Bird/Auk", "Bird/Auk/Puffin"),
    )


def test_labels_of_boxes_and_outlines(tmp_path: Path) -> None:
    """With their colours; the same label in two groups is one class."""
    text = (
        '<View><RectangleLabels name="r"><Label value="Gull" background="#FFA39E"/>'
        '<Label value="Auk" background="red"/></RectangleLabels><PolygonLabels name="p">'
        '<Label value="Gull" background="#0f0"/><Label value="Tern" background="#0f0"/>'
        "</PolygonLabels></View>"
    )
    graph = read_graph(written(tmp_path, text))
    assert [(each.name, each.attributes.colour) for each in graph.classes] == [
        ("Gull", "#ffa39e"),
        ("Auk", ""),
        ("Tern", "#00ff00"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            INTERFACE.replace("Auk", "Gull"),
            "line 9 of interface.xml repeats the class of an earlier line: found Bird/Gull",
        ),
        (INTERFACE.replace(' value="Gull"', ""), "line 8 of interface.xml: a class needs a name"),
        (
            "<View><Image/></View>",
            "interface.xml contains no classes to choose from: .* found <View>",
        ),
        ("<View><Taxonomy/></View>", "contains no classes"),
        (INTERFACE[:-20], "not well-formed XML"),
        ('<!DOCTYPE View [<!ENTITY a "aa">]><View>&a;</View>', "declares a document type"),
        (
            "<View><Taxonomy>"
            + '<Choice value="a">' * 200
            + "</Choice>" * 200
            + "</Taxonomy></View>",
            "",
        ),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    """Each is reported with the line that has to be corrected; a deep one is read."""
    path = written(tmp_path, text)
    if not message:
        assert len(class_lists.read_interface(path).classes) == 200
        return
    with pytest.raises(FormatError, match=message):
        class_lists.read_interface(path)
