"""Figure of a map for print: points, prototypes and edges, as in the paper's Figure 1."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Integers
from engine.collection.outputs import WRITTEN_BY
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_colours import class_colour
from engine.graph.codes import NO_CLASS
from engine.graph.traversal import ancestor_at_level
from engine.map import palette
from engine.map.image_map import ImageMap
from engine.map.prototypes import MapPrototypes
from engine.map.raster import View, draw_smooth

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.PngImagePlugin import PngInfo

SIDE = 1600  # pixels along the longer side
MARGIN = 60.0
MOST_NAMES = 60
GROUND = "#ffffff"
TEXT = "#1a1f1a"
EDGE = "#8a9486"
FONT_SIZE = 22
MARK = 11.0  # half width of a prototype's diamond
_FULLEST = 4.5  # maximum radius of a point
_FINEST = 1.5  # minimum
_CROWDING = 0.4


@dataclass(frozen=True)
class Diamond:
    """Marker of a prototype."""

    x: float  # pixels
    y: float
    colour: str
    name: str  # "" if it would overlap another


@dataclass(frozen=True)
class Figure:
    """Content of the figure, in pixels."""

    points: NDArray[np.uint32]  # (height, width) pixels
    marks: Sequence[Diamond]
    edges: Sequence[tuple[int, int]]  # indices of the marks

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.points.shape[1], self.points.shape[0]


def make_figure(
    made: ImageMap,
    classes: Integers,
    graph: CategoryGraph,
    prototypes: MapPrototypes,
    places: Sequence[tuple[float, float]],
    *,
    level: int = 0,
) -> Figure:
    """Lay out the figure.

    Args:
        classes: (n,) displayed class of each image, or `NO_CLASS`.
        places: of the prototypes, in the plane.
        level: of the classes that have a colour; 0 is the top.
    """
    colour_of = _colours(classes, graph, level)
    view = _view(made)
    numbers = np.array(
        [palette.argb(colour_of.get(each, palette.OTHER_LIGHT)) for each in classes.tolist()]
    )
    order = np.argsort(numbers == palette.argb(palette.OTHER_LIGHT), kind="stable")[::-1]
    apart = ((view.width - 2 * MARGIN) * (view.height - 2 * MARGIN) / max(len(classes), 1)) ** 0.5
    radius = min(max(_CROWDING * apart / 2, _FINEST), _FULLEST)
    colours = numbers.astype(np.uint32)[order]
    pixels = draw_smooth(made.places[order], colours, view, radius, palette.argb(GROUND))
    return Figure(
        pixels,
        _marks(prototypes, places, graph, colour_of, view=view, level=level),
        prototypes.edges,
    )


def _colours(classes: Integers, graph: CategoryGraph, level: int) -> dict[int, str]:
    """Colour of each displayed class: that of its ancestor at a level."""
    shown = [each for each in np.unique(classes).tolist() if each != NO_CLASS and each in graph]
    tops = {each: ancestor_at_level(graph.parents, graph.level, each, level) for each in shown}
    return {
        each: class_colour(top, graph.attributes(top).colour, is_dark=False)
        for each, top in tops.items()
    }


def _view(made: ImageMap) -> View:
    low, high = made.places.min(axis=0), made.places.max(axis=0)
    wide, tall = (max(float(each), 1e-3) for each in high - low)
    scale = (SIDE - 2 * MARGIN) / max(wide, tall)
    middle = (low + high) / 2
    width, height = round(wide * scale + 2 * MARGIN), round(tall * scale + 2 * MARGIN)
    return View(float(middle[0]), float(middle[1]), scale, width, height)


def _marks(
    prototypes: MapPrototypes,
    places: Sequence[tuple[float, float]],
    graph: CategoryGraph,
    colour_of: dict[int, str],
    *,
    view: View,
    level: int,
) -> list[Diamond]:
    ids = prototypes.class_ids.tolist()
    above = {
        each: ancestor_at_level(graph.parents, graph.level, each, level)
        for each in ids
        if each in graph
    }
    of_top = {
        ancestor_at_level(graph.parents, graph.level, each, level): colour
        for each, colour in colour_of.items()
    }
    boxes: list[tuple[float, float, float, float]] = []
    named: dict[int, str] = {}
    spots = [
        ((x - view.x) * view.scale + view.width / 2, (y - view.y) * view.scale + view.height / 2)
        for x, y in places
    ]
    for place in sorted(
        range(len(ids)),
        key=lambda each: (graph.level(ids[each]) if ids[each] in graph else 99, each),
    ):
        name = graph.name(ids[place]) if ids[place] in graph else ""
        half, (x, y) = 0.3 * FONT_SIZE * len(name), spots[place]
        box = (x - half, y + MARK, x + half, y + MARK + 1.3 * FONT_SIZE)
        if len(named) < MOST_NAMES and not any(_touch(box, other) for other in boxes):
            boxes.append(box)
            named[place] = name
    return [
        Diamond(x, y, of_top.get(above.get(class_id, NO_CLASS), TEXT), named.get(place, ""))
        for place, (class_id, (x, y)) in enumerate(zip(ids, spots, strict=True))
    ]


def _touch(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def svg_of(figure: Figure) -> str:
    """SVG with the points as an embedded image, and editable lines and text."""
    width, height = figure.size
    points = base64.b64encode(_png(_image_of(figure))).decode()
    text = f'font-family="sans-serif" font-size="{FONT_SIZE}" text-anchor="middle" fill="{TEXT}"'
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return (
        "\n".join(
            [
                f"<!-- {WRITTEN_BY} -->",
                f'<svg xmlns="http://www.w3.org/2000/svg" {box} {text}>',
                f'<image width="{width}" height="{height}" href="data:image/png;base64,{points}"/>',
                *_svg_lines(figure),
                "</svg>",
            ]
        )
        + "\n"
    )


def _svg_lines(figure: Figure) -> Iterator[str]:
    for parent, child in figure.edges:
        one, other = figure.marks[parent], figure.marks[child]
        yield (
            f'<path d="M{one.x:.1f} {one.y:.1f}L{other.x:.1f} {other.y:.1f}" stroke="{EDGE}" '
            'stroke-width="1.5"/>'
        )
    for mark in figure.marks:
        path = f"M{mark.x:.1f} {mark.y - MARK:.1f}l{MARK} {MARK}l-{MARK} {MARK}l-{MARK} -{MARK}z"
        yield f'<path d="{path}" fill="{mark.colour}" stroke="{GROUND}" stroke-width="2"/>'
    for mark in figure.marks:
        if mark.name:
            y = mark.y + MARK + FONT_SIZE
            halo = f'stroke="{GROUND}" stroke-width="4" paint-order="stroke"'
            yield (
                f'<text x="{mark.x:.1f}" y="{y:.1f}" {halo}>{escape(_printable(mark.name))}</text>'
            )


def _printable(name: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(letter if letter.isprintable() else " " for letter in name)


def png_of(figure: Figure) -> bytes:
    """PNG; names are limited to the glyphs of Pillow's default font."""
    from PIL import ImageDraw, ImageFont

    image = _image_of(figure)
    brush, font = ImageDraw.Draw(image), ImageFont.load_default(FONT_SIZE)
    for parent, child in figure.edges:
        one, other = figure.marks[parent], figure.marks[child]
        brush.line((one.x, one.y, other.x, other.y), fill=EDGE, width=2)
    for mark in figure.marks:
        corners = ((0, -MARK), (MARK, 0), (0, MARK), (-MARK, 0))
        brush.polygon(
            [(mark.x + dx, mark.y + dy) for dx, dy in corners], fill=mark.colour, outline=GROUND
        )
    for mark in figure.marks:
        at = (mark.x, mark.y + MARK)
        brush.text(
            at,
            _printable(mark.name),
            fill=TEXT,
            font=font,
            anchor="ma",
            stroke_width=3,
            stroke_fill=GROUND,
        )
    return _png(image)


def _image_of(figure: Figure) -> "Image":
    from PIL import Image

    pixels = np.ascontiguousarray(figure.points)
    channels = [
        (pixels >> np.uint32(shift) & np.uint32(0xFF)).astype(np.uint8) for shift in (16, 8, 0)
    ]
    return Image.fromarray(np.stack(channels, axis=2))


def _png(image: "Image") -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", pnginfo=_written_by())
    return out.getvalue()


def _written_by() -> "PngInfo":
    from PIL.PngImagePlugin import PngInfo

    facts = PngInfo()
    facts.add_text("Software", WRITTEN_BY)
    return facts
