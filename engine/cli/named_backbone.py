"""What a person names as a backbone on the command line: in the library by the time that a project takes it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli.output import progress_bar
from engine.cli.stopping import stoppable
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.backbones.onnx_files.adding import Added

NAMES: Final = (
    "“accurate”, “fast”, or a backbone of `backbone list`; torchvision:NAME or timm:NAME to download one; an ONNX file."
)
"""Help of an argument or option that names a backbone."""


def _proxy(address: str) -> str:
    """Refuse what is no proxy's address before anything is told or asked."""
    if address:
        from engine.backbones.published.route import proxy_address

        proxy_address(address)
    return address


Proxy = Annotated[
    str, typer.Option(metavar="URL", help="Proxy for a download; the system's by default.", callback=_proxy)
]


def _mirror(place: str) -> str:
    """Refuse what is neither an address nor a folder before anything is told or asked."""
    from engine.backbones.published.route import Route

    Route(mirror=place).check()
    return place


Mirror = Annotated[
    str,
    typer.Option(metavar="FOLDER_OR_URL", help="Take a download from here instead of its publisher.", callback=_mirror),
]


def named_backbone(
    backbone: str, chosen: Mapping[str, Any], *, yes: bool, proxy: str, mirror: str = "", when_stopped: str
) -> tuple[str, tuple[str, ...]]:
    """Let a backbone be at hand: an ONNX file is tried out and kept, a published network downloaded after a question.

    Args:
        when_stopped: what is told of the work when it is stopped.

    Returns:
        Its name, by which `find_model` finds it, and what the person should know of it.

    Raises:
        UsageError: preprocessing, a proxy or a mirror was named for what takes none; or a download is needed, nobody
            can be asked, and `yes` was not given.
        ModelError: the file or network cannot be a backbone.
        InputError: the file's name cannot be used, or the library has another backbone of that name.
    """
    from engine.backbones.published.publishers import is_published_source
    from engine.backbones.published.route import Route
    from engine.collection.new_project import is_file_source

    is_published = is_published_source(backbone)
    for option, given in (("proxy", proxy), ("mirror", mirror)):
        if given and not is_published:
            raise UsageError(
                "a {option} is for the download of a published network only",
                expected="torchvision:NAME or timm:NAME",
                found=backbone,
                remedy="leave --{option} out",
                option=option,
            )
    if is_file_source(backbone):
        added = added_file(Path(backbone), chosen, when_stopped=when_stopped)
        return added.files.name, preprocessing_lines(added)
    if set(chosen) - ({"input_side"} if is_published else set()):
        raise UsageError(
            "preprocessing can be chosen for an ONNX file only", found=backbone, remedy="leave these options out"
        )
    if is_published:
        from engine.cli.published import fetched

        side = chosen.get("input_side")
        return fetched(backbone, input_side=side, yes=yes, route=Route(proxy, mirror))[1].name, ()
    return at_hand(backbone, when_stopped=when_stopped), ()


def at_hand(backbone: str, *, when_stopped: str) -> str:
    """Name of a backbone that a person may have called by a word; a bundled one is made if it is not yet.

    Raises:
        ModelError: it cannot be made.
    """
    from engine.backbones.model_files import bundled_backbones, is_converted
    from engine.collection.models import name_of

    name = name_of(backbone)
    if name in bundled_backbones() and not is_converted(name):
        from engine.backbones.converted.keeping import convert_kept

        with stoppable(when_stopped) as cancel, progress_bar("Backbone") as on_progress:
            convert_kept(name, on_progress=on_progress, cancel=cancel)
    return name


def added_file(path: Path, chosen: Mapping[str, Any], *, name: str = "", when_stopped: str) -> "Added":
    """Try an ONNX file out and keep it in the library, with a progress bar."""
    from engine.backbones.onnx_files.adding import add_file

    with stoppable(when_stopped) as cancel, progress_bar("Backbone") as on_progress:
        return add_file(path, name=name, chosen=chosen, on_progress=on_progress, cancel=cancel)


def preprocessing_lines(added: "Added") -> tuple[str, ...]:
    """Where the preprocessing of a file comes from, and what the person should know."""
    return f"Preprocessing: {added.facts.why}.", *added.facts.notices
