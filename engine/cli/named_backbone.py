"""Backbones named on the command line: added to the library by file, download or conversion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer
from typer import Option

from engine.backbones.model_files import ModelFiles, bundled_backbones, bundled_path
from engine.backbones.published.route import Route, proxy_address
from engine.cli.output import is_interactive, job, print_result, progress_bar, stoppable
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.events import BYTES, OnProgress, Progress

if TYPE_CHECKING:
    from engine.backbones.published.facts import PublishedNetwork
    from engine.backbones.trial import Added


NAMES = (
    "“accurate”, “fast”, or a backbone of `backbone list`; torchvision:NAME or timm:NAME to "
    "download one; an ONNX file."
)
"""Help of an argument or option that names a backbone."""


def _proxy(address: str) -> str:
    """Validate the address of a proxy before anything else."""
    if address:
        proxy_address(address)
    return address


Proxy = Annotated[
    str,
    Option(metavar="URL", help="Proxy for a download; the system's by default.", callback=_proxy),
]


def _mirror(place: str) -> str:
    """Validate an address or a folder before anything else."""
    Route(mirror=place).check()
    return place


Mirror = Annotated[
    str,
    Option(
        metavar="FOLDER_OR_URL",
        help="Download from here instead of the publisher.",
        callback=_mirror,
    ),
]


def named_backbone(
    backbone: str,
    chosen: Mapping[str, Any],
    *,
    yes: bool,
    proxy: str,
    mirror: str = "",
    when_stopped: str,
) -> tuple[str, tuple[str, ...]]:
    """Make a backbone available: add an ONNX file, or download a published network if confirmed.

    Args:
        when_stopped: for the message after Ctrl+C.

    Returns:
        Its name for `find_model`, and notes to print.

    Raises:
        UsageError: preprocessing, a proxy or a mirror was named for what takes none; or a download
            is needed, there is no terminal to ask, and `yes` was not given.
        ModelError: the file or network cannot be a backbone.
        InputError: the file's name cannot be used, or the library has another backbone of that
            name.
    """
    from engine.backbones.published.catalogue import is_published_source
    from engine.collection.new_project import is_file_source

    is_published = is_published_source(backbone)
    for option, given in (("proxy", proxy), ("mirror", mirror)):
        if given and not is_published:
            raise UsageError(
                "a {option} is only for the download of a published network",
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
            "preprocessing can be chosen for an ONNX file only",
            found=backbone,
            remedy="leave these options out",
        )
    if is_published:
        from engine.cli.named_backbone import fetched

        side = chosen.get("input_side")
        return fetched(backbone, input_side=side, yes=yes, route=Route(proxy, mirror))[1].name, ()
    return ensure_converted(backbone, when_stopped=when_stopped), ()


def ensure_converted(backbone: str, *, when_stopped: str) -> str:
    """Name of a backbone in the library; a bundled one is converted at its first use.

    Raises:
        ModelError: it cannot be converted.
    """
    from engine.collection.models import name_of

    name = name_of(backbone)
    if name in bundled_backbones() and bundled_path(name) is None:
        from engine.backbones.bundled import convert_kept

        with job("Backbone", when_stopped) as running:
            convert_kept(name, **running)
    return name


def added_file(
    path: Path, chosen: Mapping[str, Any], *, name: str = "", when_stopped: str
) -> "Added":
    """Test an ONNX file and add it to the library, with a progress bar."""
    from engine.backbones.trial import add_file

    with job("Backbone", when_stopped) as running:
        return add_file(path, name=name, chosen=chosen, **running)


def preprocessing_lines(added: "Added") -> tuple[str, ...]:
    """Origin of the preprocessing of a file, and notes."""
    return f"Preprocessing: {added.facts.why}.", *added.facts.notices


_GO_ON = "run the same command again to resume the download"
_MEGA = 1_000_000  # of bytes
_NOT_KNOWN = "-"
_TITLES = ("network", "weights", "size", "parameters", "top-1", "side", "width", "licence")
_NUMBERS = frozenset({"size", "parameters", "top-1", "side", "width"})
_GAP = "  "


def fetched(
    source: str,
    *,
    weights: str | None = None,
    input_side: int | None = None,
    yes: bool = False,
    route: Route,
    keep_weights: bool = False,
) -> tuple["PublishedNetwork", ModelFiles]:
    """Add a published network to the library, downloaded if confirmed; see `add_published`.

    Raises:
        UsageError: it must be downloaded, `yes` was not given, and no terminal can ask; names size
            and licence.
    """
    from engine.backbones.library import BackboneLibrary
    from engine.backbones.published.catalogue import find_published
    from engine.backbones.published.networks import add_published

    caches = CacheFolders.default()
    facts = find_published(caches, source, weights, input_side=input_side, route=route)
    if facts.library_name not in BackboneLibrary().names():
        _agree(facts, route, yes=yes)
    with stoppable(_GO_ON) as cancel, progress_bar(facts.network) as on_progress:
        files = add_published(
            facts,
            caches,
            route=route,
            keep_weights=keep_weights,
            on_progress=_in_megabytes(on_progress),
            cancel=cancel,
        )
    return facts, files


def _agree(facts: "PublishedNetwork", route: Route, *, yes: bool) -> None:
    """Print size and licence before a download, and ask unless `yes`."""
    terms = f"{facts.described} must be downloaded: {facts.terms}"
    if not yes and not is_interactive():
        raise UsageError(terms, remedy="add --yes to agree")
    typer.echo(
        f"{terms}, from {route.folder or urlsplit(route.address(facts.url)).hostname}", err=True
    )
    if not yes:
        typer.confirm("Download it?", abort=True, err=True)


def _in_megabytes(on_progress: OnProgress) -> OnProgress:
    def tell(progress: Progress) -> None:
        if progress.unit == BYTES:
            done, total, rate = (
                value / _MEGA for value in (progress.done, progress.total, progress.rate_per_s)
            )
            progress = replace(
                progress, done=round(done), total=round(total), unit="MB", rate_per_s=rate
            )
        on_progress(progress)

    return tell


def list_published_networks(*, publisher: str = "", words: str = "") -> None:
    """Print published networks that have all these words in their names, weights or licence."""
    from engine.backbones.published.catalogue import list_published

    with progress_bar("Listing") as on_progress:
        everything = list_published(
            CacheFolders.default(), publisher=publisher, on_progress=on_progress
        )
    wanted = words.casefold().split()
    networks = [network for network in everything if all(word in network.words for word in wanted)]
    print_result(
        "\n".join([*_table(networks), "", *_notes(networks, len(everything))]),
        {"networks": [network.as_dict() for network in networks]},
    )


def _table(networks: Sequence["PublishedNetwork"]) -> list[str]:
    rows = [_TITLES, *map(_cells, networks)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            text.rjust(width) if title in _NUMBERS else text.ljust(width)
            for title, text, width in zip(_TITLES, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _cells(network: "PublishedNetwork") -> tuple[str, ...]:
    return (
        network.source,
        f"{network.weights} *" if network.is_default else network.weights,
        network.size_text if network.size_bytes else _NOT_KNOWN,
        f"{network.parameters:,}" if network.parameters else _NOT_KNOWN,
        _NOT_KNOWN if network.top1 is None else f"{network.top1:.1f}%",
        str(network.input_side),
        str(network.embedding_width or _NOT_KNOWN),
        ""
        if network.is_unlicensed
        else network.licence,  # the most common licence is below the table
    )


def _notes(networks: Sequence["PublishedNetwork"], total: int) -> list[str]:
    if not networks:
        return [f"None of {total:,} networks matches. Search for a family, such as resnet."]
    unnamed: dict[str, set[str]] = {}
    for network in networks:
        if network.is_unlicensed:
            unnamed.setdefault(network.licence, set()).add(network.licence_url)
    notes = ["* the publisher's default"]
    for licence, pages in sorted(unnamed.items()):
        notes.append(
            f"No licence in the table: {licence}{f' ({min(pages)})' if len(pages) == 1 else ''}"
        )
    if any(network.top1 is None for network in networks):
        notes.append("No top-1 accuracy in the table: timm does not include it.")
    return [*notes, "", f"Add one with: protoleaf backbone add {networks[0].source}"]
