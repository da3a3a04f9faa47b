"""Earlier outputs of the same kind are recognised by content; other files are not replaced."""

from pathlib import Path

import pytest

from engine.collection.outputs import PREDICTIONS, is_own_output
from engine.exporting.export import ExportChoice, Which, export_images
from engine.exporting.export_graph import GRAPH_FORMATS, export_graph
from engine.interchange.labelled_images.formats import FORMATS
from engine.interchange.predictions_file import LabelledRow, write_predictions_file
from tests.support.labelled_images import Labelled

FILES = [name for name, one in FORMATS.items() if one.write_file is not None]
KINDS = [*FILES, *(f"graph-{name}" for name in GRAPH_FORMATS), PREDICTIONS]


def written(music: Labelled, kind: str, folder: Path) -> Path:
    out = folder / kind
    if kind in FILES:
        export_images(music.project, music.answers, ExportChoice(kind, out, Which.ALL))
    elif kind == PREDICTIONS:
        rows = [LabelledRow("a.png", None, "ada")]
        write_predictions_file(
            out, music.project.classes.graph, rows, setting="ppn+", model="leafnet"
        )
    else:
        export_graph(music.project, out, kind.removeprefix("graph-"))
    return out


def test_each_kind_knows_its_own_and_no_other(music: Labelled, tmp_path: Path) -> None:
    """Every output replaces one of its own kind, and no other kind."""
    outs = {kind: written(music, kind, tmp_path) for kind in KINDS}
    for kind, out in outs.items():
        assert [each for each in KINDS if is_own_output(out, each)] == [kind]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_merely_of_the_format_is_not_ours(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "theirs"
    for content in (
        b"image,class\r\na.png,b\r\n",
        b'{"image": "a", "class": "b"}\n',
        b"PAR1PAR1",
        b"PK\x03\x04",
        b"child,parent\n",
        b'{"info": {}, "images": [], "annotations": [], "categories": []}',
        b"<svg></svg>",
        b"digraph {}",
        b"\n",
        b'<?xml version="1.0"?>\n<annotations><image/></annotations>',
        b'{"classes": []}',
        b"\x89PNG\r\n\x1a\n",
    ):
        out.write_bytes(content)
        assert not is_own_output(out, kind), content


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_file_holds_nothing_to_lose(kind: str, tmp_path: Path) -> None:
    """An empty file, as `mktemp` makes, may be replaced."""
    (tmp_path / "empty").touch()
    assert is_own_output(tmp_path / "empty", kind)
    assert not is_own_output(tmp_path, kind)
    assert not is_own_output(tmp_path / "nothing", kind)
