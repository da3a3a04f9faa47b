"""Export of a map: places (CSV, NumPy), or a figure (SVG, PNG)."""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.live import LiveCollection
from engine.collection.outputs import MAP, check_file
from engine.collection.state import NO_CLASS, shown_classes
from engine.errors import UsageError
from engine.full_disk import writing
from engine.interchange.table_writer import storable, write_table
from engine.map.figure import Figure, make_figure, png_of, svg_of
from engine.map.image_map import ImageMap
from engine.map.prototypes import placed, prototypes_of
from engine.new_file import output_file
from engine.texts import either

COLUMNS = ("image", "x", "y", "class", "labelled")


def check_out(out: Path) -> str:
    """The format by the suffix of a name.

    Raises:
        UsageError: no format has it.
    """
    kind = out.suffix.lower()
    if kind not in WRITERS:
        raise UsageError(
            "a map is written as one of a few kinds of file",
            expected=either(WRITERS),
            found=out.name,
        )
    return kind


def write(
    live: LiveCollection,
    made: ImageMap,
    out: Path,
    *,
    level: int = 0,
    is_plain: bool = False,
    is_overwriting: bool,
) -> int:
    """Write a map atomically; return the number of images.

    Args:
        level: of the classes that have a colour in a figure; 0 is the top.
        is_plain: do not guard names that a spreadsheet would run as formulas.
        is_overwriting: also replace a file that is not an earlier map.

    Raises:
        UsageError: there is no such format.
        TakenError: another file exists.
        StorageError: the file cannot be written.
    """
    kind = check_out(out)
    check_file(out, f"{MAP}{kind}", project=live.project, is_overwriting=is_overwriting)
    shown = _without_removed(live, made)
    content = WRITERS[kind](live, shown, level, is_plain)
    with (
        writing(out, "the map cannot be written", "choose another place"),
        output_file(out) as file,
    ):
        file.write(content)
    return len(shown.image_ids)


def _without_removed(live: LiveCollection, made: ImageMap) -> ImageMap:
    """The map without removed images."""
    is_there = np.isin(made.image_ids, live.state.image_ids)
    return replace(
        made,
        image_ids=made.image_ids[is_there],
        contents=made.contents[is_there],
        places=made.places[is_there],
        is_later=made.is_later[is_there],
    )


def _shown_classes(live: LiveCollection, made: ImageMap) -> tuple[Integers, Integers, Flags]:
    """(n,) rows in the state, displayed classes or `NO_CLASS`, and whether they are labels."""
    state = live.state
    at = np.searchsorted(state.image_ids, made.image_ids)
    shown = shown_classes(state.label_class[at], state.best_class[at], state.is_unknown[at])
    return at, np.where(shown >= 0, shown, NO_CLASS), state.label_class[at] >= 0


def _csv(live: LiveCollection, made: ImageMap, _level: int, is_plain: bool) -> bytes:
    text, graph, state = io.StringIO(newline=""), live.project.classes.graph, live.state
    at, classes, is_labelled = _shown_classes(live, made)
    names = {each: graph.path_text(each) for each in np.unique(classes).tolist() if each in graph}
    columns = zip(
        at.tolist(), made.places.tolist(), classes.tolist(), is_labelled.tolist(), strict=True
    )
    rows = (
        (
            state.paths[place],
            f"{x:.4f}",
            f"{y:.4f}",
            names.get(class_id, ""),
            "yes" if labelled else "",
        )
        for place, (x, y), class_id, labelled in columns
    )
    write_table(text, COLUMNS, rows, is_plain=is_plain)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _npz(live: LiveCollection, made: ImageMap, _level: int, _is_plain: bool) -> bytes:
    out = io.BytesIO()
    at, classes, is_labelled = _shown_classes(live, made)
    paths = np.array([storable(live.state.paths[place]) for place in at.tolist()], dtype=np.str_)
    np.savez(
        out,
        allow_pickle=False,
        protoleaf_map=np.int64(1),
        image=paths,
        xy=made.places,
        class_id=classes,
        labelled=is_labelled,
    )
    return out.getvalue()


def _figure(live: LiveCollection, made: ImageMap, level: int) -> Figure:
    prototypes = prototypes_of(live)
    _at, classes, _is_labelled = _shown_classes(live, made)
    takes = made.space.takes(prototypes.vectors.shape[1])
    places = placed(made, prototypes).tolist() if takes else []
    return make_figure(made, classes, live.project.classes.graph, prototypes, places, level=level)


WRITERS: Mapping[str, Callable[[LiveCollection, ImageMap, int, bool], bytes]] = {
    ".csv": _csv,
    ".npz": _npz,
    ".svg": lambda live, made, level, _is_plain: svg_of(_figure(live, made, level)).encode(),
    ".png": lambda live, made, level, _is_plain: png_of(_figure(live, made, level)),
}
