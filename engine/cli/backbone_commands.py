"""The `backbone` commands: list, convert, show, add, remove and use backbones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.backbones.model_files import CONVERSION_S, bundled_backbones, bundled_card, bundled_path
from engine.backbones.preprocessing import numbers_text
from engine.backbones.published.route import Route
from engine.backbones.published.titles import is_published
from engine.cli.named_backbone import (
    NAMES,
    Mirror,
    Proxy,
    added_file,
    named_backbone,
    preprocessing_lines,
)
from engine.cli.options import (
    DeviceName,
    ProjectPath,
    command_group,
    open_project,
    takes_preprocessing,
)
from engine.cli.output import asked, percent, print_result, progress_bar
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.files import size_text
from engine.model_card import BackboneCard
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.backbone_change import PreparedChange, ShotComparison
    from engine.collection.models import ModelFiles


application = command_group("Backbones: the networks that turn an image into an embedding.")

RATE = "images_per_s_one_core"
Name = Annotated[
    str, Argument(metavar="NAME", help="Name of a backbone, as shown by `backbone list`.")
]


@application.command(
    "list",
    help="List the bundled and added backbones, or published networks.",
)
def list_backbones(
    published: Annotated[
        bool, Option("--published", help="List the networks that can be downloaded instead.")
    ] = False,
    source: Annotated[
        str,
        Option(metavar="NAME", help="Only published networks of torchvision, or of timm."),
    ] = "",
    search: Annotated[
        str,
        Option(
            metavar="WORDS", help="Only published networks with these words in name or licence."
        ),
    ] = "",
) -> None:
    """List backbones."""
    if published:
        from engine.cli.named_backbone import list_published_networks

        list_published_networks(publisher=source, words=search)
        return
    if source or search:
        raise UsageError(
            "--source and --search are for published networks", remedy="add --published"
        )
    from engine.collection.models import all_models

    models = all_models()
    coming = [bundled_card(name) for name in bundled_backbones() if bundled_path(name) is None]
    head = f"{'name':<40}{'width':>7}{'side':>6}{'size':>11}{'images/s':>10}  from"
    print_result(
        "\n".join([head, *map(_coming_line, coming), *map(_line, models)]),
        {
            "backbones": [_fields(model) for model in models],
            "converted_at_first_use": [card.name for card in coming],
        },
    )


@application.command("convert")
def convert(name: Name) -> None:
    """Convert a bundled backbone from its weights now instead of at its first use."""
    from engine.cli.named_backbone import ensure_converted
    from engine.collection.models import find_model

    model = find_model(ensure_converted(name, when_stopped="nothing was made"))
    print_result(
        f"{model.name} is ready: {model.backbone} ({_size(model)}).",
        _fields(model),
    )


@application.command("show")
def show(name: Name) -> None:
    """Show everything known about a backbone."""
    from engine.collection.models import find_model

    model = find_model(name)
    card = model.card
    rows = {
        "name": model.name,
        "from": _origin(model),
        "what": card.description,
        "input": f"{card.input_side} x {card.input_side} pixels, {card.channel_order}, "
        f"{card.layout}; {card.resize_share:.3g} of the short side is seen",
        "values": f"0 to {card.value_scale:g}, minus {numbers_text(card.mean)}, divided by "
        f"{numbers_text(card.std)}",
        "embedding": f"width {card.embedding_width}"
        + (f", from output “{card.output}”" if card.output else "")
        + ("" if card.pooling == "none" else f", pooling {card.pooling}")
        + (", normalised to unit length" if card.unit_length else ""),
        "propagation": "trained for it"
        if model.has_own_propagation
        else "for any width, without parameters",
        "trained on": card.training_data,
        "licence": card.licence,
        "made by": card.command,
        "file": f"{model.backbone} ({_size(model)})",
        "hash": model.backbone_hash,
        **{figure.replace("_", " "): f"{value:g}" for figure, value in card.figures.items()},
    }
    column = max(map(len, rows)) + 2
    print_result(
        "\n".join(f"{title:<{column}}{text}" for title, text in rows.items() if text),
        {**_fields(model), "card": vars(card)},
    )


@application.command("add")
@takes_preprocessing
def add(
    source: Annotated[
        str, Argument(metavar="SOURCE", help="An ONNX file, torchvision:NAME or timm:NAME.")
    ],
    *,
    name: Annotated[str, Option(help="Name in the library; by default the file's name.")] = "",
    chosen: dict[str, Any],
    weights: Annotated[
        str | None,
        Option(help="Weights of a published network; its default ones if omitted."),
    ] = None,
    proxy: Proxy = "",
    mirror: Mirror = "",
    keep_weights: Annotated[
        bool, Option("--keep-weights", help="Keep the downloaded weights.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="Download without asking.")] = False,
) -> None:
    """Test an ONNX file and add it to the library, or download a published network into it."""
    from engine.backbones.published.catalogue import is_published_source

    if is_published_source(source):
        if set(chosen) - {"input_side"} or name:
            raise UsageError("a published network has its own name and preprocessing", found=source)
        from engine.cli.named_backbone import fetched

        side, route = chosen.get("input_side"), Route(proxy, mirror)
        facts, files = fetched(
            source,
            weights=weights,
            input_side=side,
            yes=yes,
            route=route,
            keep_weights=keep_weights,
        )
        notes: tuple[str, ...] = ()
        fields = {
            name: getattr(facts, name) for name in ("source", "weights", "licence", "licence_url")
        }
        fields |= {"path": str(files.backbone), "figures": files.card.figures}
    else:
        if weights or proxy or mirror or keep_weights:
            raise UsageError(
                "--weights, --proxy, --mirror and --keep-weights are for published networks",
                found=source,
            )
        added = added_file(Path(source), chosen, name=name, when_stopped="nothing was kept")
        files, notes = added.files, preprocessing_lines(added)
        fields = {name: getattr(added.facts, name) for name in ("why", "is_declared", "notices")}
        fields["preprocessing"] = {
            name: getattr(files.card, name) for name in vars(added.facts.preprocessing)
        }
        fields["trial"] = vars(added.trial)
    card = files.card
    lines = [
        (
            f"Added {files.name}: {card.input_side} pixels, embeddings of width "
            f"{card.embedding_width}{_measured(card)}."
        ),
        *notes,
        f"Create a project with: protoleaf new PROJECT --backbone {files.name}",
    ]
    print_result(
        "\n".join(lines),
        {**_fields(files), "embedding_width": card.embedding_width, **fields},
    )


@application.command(
    "remove",
    help="Remove an added backbone; projects that use it keep their embeddings, but "
    "cannot embed new images.",
)
def remove(name: Name) -> None:
    """Remove a backbone from the library."""
    from engine.backbones.library import BackboneLibrary

    BackboneLibrary().remove(name)
    print_result(f"Removed {name}.", {"removed": name})


def _measured(card: BackboneCard) -> str:
    rate, difference = card.figures.get(RATE), card.figures.get("largest_difference_from_torch")
    speed = (
        "" if rate is None else f", {rate:,.{0 if difference is None else 1}f} images/s on one core"
    )
    return speed if difference is None else f"{speed}; within {difference:.0e} of torch's results"


def _fields(model: "ModelFiles") -> dict[str, Any]:
    return {
        "name": model.name,
        "width": model.card.embedding_width,
        "input_side": model.card.input_side,
        "size_bytes": model.backbone.stat().st_size,
        "origin": _origin(model),
        RATE: model.card.figures.get(RATE),
        "file": str(model.backbone),
        "backbone_hash": model.backbone_hash,
        "has_own_propagation": model.has_own_propagation,
    }


def _coming_line(card: BackboneCard) -> str:

    return (
        f"{card.name:<40}{card.embedding_width:>7}{card.input_side:>6}{'-':>11}{'-':>10}  "
        f"bundled, converted at first use (about {CONVERSION_S} s)"
    )


def _line(model: "ModelFiles") -> str:
    card, rate = model.card, model.card.figures.get(RATE)
    return (
        f"{model.name:<40}{card.embedding_width:>7}{card.input_side:>6}{_size(model):>11}"
        f"{'-' if rate is None else f'{rate:,.0f}':>10}  {_origin(model)}"
    )


def _origin(model: "ModelFiles") -> str:
    if model.is_bundled:
        return "bundled"

    return model.name.partition("-")[0] if is_published(model.name) else "added"


def _size(model: "ModelFiles") -> str:
    return size_text(model.backbone.stat().st_size)


@application.command(
    "use",
    help="Change a project's backbone: embed all images again, compare both on the labels, then "
    "ask. Can be undone.",
)
@takes_preprocessing
def use(
    project: ProjectPath,
    backbone: Annotated[str, Argument(metavar="BACKBONE", help=NAMES)],
    *,
    yes: Annotated[bool, Option("--yes", help="Download and change without asking.")] = False,
    proxy: Proxy = "",
    mirror: Mirror = "",
    device: DeviceName = "auto",
    chosen: dict[str, Any],
) -> None:
    """Change the backbone of a project."""
    from engine.collection.backbone_change import prepare_change, use_backbone

    with open_project(project) as opened:
        name, notes = named_backbone(
            backbone,
            chosen,
            yes=yes,
            proxy=proxy,
            mirror=mirror,
            when_stopped="the project is as it was",
        )
        with progress_bar("Embedding") as on_progress:
            prepared = prepare_change(
                opened, CacheFolders.default(), name, device=device, on_progress=on_progress
            )
        facts = "\n".join((*notes, _figures(prepared.comparison)))
        is_changed = yes or asked(facts, f"Use {prepared.name} in this project?")
        if is_changed:
            use_backbone(opened, prepared.source, prepared.backbone_hash, prepared.news)
        in_use = opened.models.current
    print_result(
        "\n".join((_outcome(prepared, is_changed=is_changed), *notes)),
        {"changed": is_changed, "version": in_use.version_id, **_change_fields(prepared)},
    )


def _change_fields(prepared: "PreparedChange") -> dict[str, Any]:
    comparison = prepared.comparison
    return {
        **{
            name: getattr(prepared, name)
            for name in ("source", "name", "backbone_hash", "embedded", "seconds")
        },
        **vars(comparison),
        "interval": comparison.interval,
        "may_be_chance": comparison.may_be_chance,
        "failed": len(prepared.failed),
    }


def _outcome(prepared: "PreparedChange", *, is_changed: bool) -> str:
    lines = [
        f"The project now uses {prepared.name}; undo reverts this."
        if is_changed
        else f"Nothing was changed. The embeddings of {prepared.name} are kept; use it with --yes.",
        _figures(prepared.comparison),
    ]
    if prepared.failed:
        lines.append(f"{counted(len(prepared.failed), 'image')} could not be read:")
        lines += [f"  {failure.path}: {failure.reason}" for failure in prepared.failed]
    return "\n".join(lines)


def _figures(comparison: "ShotComparison") -> str:
    """Accuracy before and after the change, or why there is none."""
    if comparison.after is None:
        return "There are too few labels to compare the backbones: a class needs at least two."
    before = "" if comparison.before is None else f", {percent(comparison.before)} before"
    facts = f"Accuracy {percent(comparison.after)} on the labels, each held out once{before}"
    facts += f"; on {counted(comparison.shots, 'label')}"
    if comparison.interval is not None:
        low, high = (f"{100 * end:+.1f}" for end in comparison.interval)
        facts += f", 95% confidence interval {low} to {high} points"
    return facts + ("; the difference may be due to chance." if comparison.may_be_chance else ".")
