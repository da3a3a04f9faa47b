"""Commands around backbones: list them, show one, add an ONNX file or a published network, remove one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli import preprocessing_options as options
from engine.cli.command_group import command_group
from engine.cli.named_backbone import Proxy
from engine.cli.output import AsJson, progress_bar, say
from engine.cli.stopping import stoppable
from engine.errors import UsageError
from engine.files import size_text

if TYPE_CHECKING:
    from engine.backbones.onnx_files.adding import Added
    from engine.collection.models import ModelFiles

application = command_group("Backbones: the networks that turn an image into an embedding.")

RATE: Final = "images_per_s_one_core"
Name = Annotated[str, typer.Argument(metavar="NAME", help="Of a backbone, as `backbone list` shows it.")]


@application.command("list")
def list_backbones(
    published: Annotated[
        bool, typer.Option("--published", help="List the networks that can be downloaded instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the bundled and the added backbones."""
    if published:
        from engine.cli.torchvision_download import list_published_networks

        list_published_networks(as_json=as_json)
        return
    from engine.collection.models import all_models

    models = all_models()
    head = f"{'name':<40}{'width':>7}{'side':>6}{'size':>11}{'images/s':>10}  from"
    say(
        "\n".join([head, *map(_line, models)]),
        {"backbones": [_fields(model) for model in models]},
        as_json=as_json,
    )


@application.command("show")
def show(name: Name, as_json: AsJson = False) -> None:
    """Show all that is known of a backbone."""
    from engine.backbones.preprocessing import numbers_text
    from engine.collection.models import find_model

    model = find_model(name)
    card = model.card
    rows = {
        "name": model.name,
        "from": _origin(model),
        "what": card.description,
        "input": f"{card.input_side} x {card.input_side} pixels, {card.channel_order}, {card.layout}; "
        f"{card.resize_share:.3g} of the short side is seen",
        "values": f"0 to {card.value_scale:g}, minus {numbers_text(card.mean)}, divided by {numbers_text(card.std)}",
        "embedding": f"width {card.embedding_width}"
        + (f", from output “{card.output}”" if card.output else "")
        + ("" if card.pooling == "none" else f", pooling {card.pooling}")
        + (", normalised to unit length" if card.unit_length else ""),
        "propagation": "trained for it" if model.has_own_propagation else "for any width, without parameters",
        "trained on": card.training_data,
        "licence": card.licence,
        "made by": card.command,
        "file": f"{model.backbone} ({_size(model)})",
        "hash": model.backbone_hash,
        **{figure.replace("_", " "): f"{value:g}" for figure, value in card.figures.items()},
    }
    column = max(map(len, rows)) + 2
    say(
        "\n".join(f"{title:<{column}}{text}" for title, text in rows.items() if text),
        {**_fields(model), "card": vars(card)},
        as_json=as_json,
    )


@application.command("add")
def add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An ONNX file, or torchvision:NAME.")],
    *,
    name: Annotated[str, typer.Option(help="Name in the library; by default that of the file.")] = "",
    preset: options.PresetName = None,
    input_side: options.InputSide = None,
    mean: options.Mean = None,
    std: options.Deviation = None,
    value_range: options.Range = None,
    layout: options.Layout = None,
    channel_order: options.ChannelOrder = None,
    resize_share: options.ResizeShare = None,
    output: options.Output = None,
    pooling: options.Pooling = None,
    unit_length: options.UnitLength = None,
    weights: Annotated[str | None, typer.Option(help="Of a published network; its usual ones by default.")] = None,
    proxy: Proxy = "",
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the downloaded weights.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Download without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Try an ONNX file out and keep it in the library, or download a published network into it."""
    chosen = options.chosen_fields(
        preset_name=preset, value_range=value_range, mean=mean, std=std, input_side=input_side, layout=layout,
        channel_order=channel_order, resize_share=resize_share, output=output, pooling=pooling,
        unit_length=unit_length,
    )  # fmt: skip
    from engine.backbones.published.networks import is_published_source

    if not is_published_source(source):
        if weights or proxy or keep_weights:
            raise UsageError("--weights, --proxy and --keep-weights are for published networks", found=source)
        _add_file(Path(source), chosen, name=name, as_json=as_json)
        return
    if chosen or name:
        raise UsageError("a published network has its own name and preprocessing", found=source)
    from engine.cli.torchvision_download import add_published

    add_published(source, weights=weights, yes=yes, proxy=proxy, keep_weights=keep_weights, as_json=as_json)


@application.command("remove")
def remove(name: Name, as_json: AsJson = False) -> None:
    """Remove an added backbone; projects that use it keep their embeddings, but can embed no new images."""
    from engine.backbones.library import BackboneLibrary

    BackboneLibrary().remove(name)
    say(f"Removed {name}.", {"removed": name}, as_json=as_json)


def _add_file(path: Path, chosen: dict[str, Any], *, name: str, as_json: bool) -> None:
    from engine.backbones.onnx_files.adding import add_file

    with stoppable("nothing was kept") as cancel, progress_bar("Adding") as on_progress:
        added = add_file(path, name=name, chosen=chosen, on_progress=on_progress, cancel=cancel)
    say(
        _added_text(added),
        {
            **_fields(added.files),
            "why": added.facts.why,
            "is_told": added.facts.is_told,
            "notices": list(added.facts.notices),
            "preprocessing": {key: vars(added.files.card)[key] for key in added.facts.preprocessing.as_dict()},
            "trial": added.trial.as_dict(),
        },
        as_json=as_json,
    )


def _added_text(added: "Added") -> str:
    card, trial = added.files.card, added.trial
    size = f"{card.input_side} pixels, embeddings of width {card.embedding_width}"
    lines = [
        f"Added {added.files.name}: {size}, {trial.images_per_s:,.0f} images/s on one core.",
        f"Preprocessing: {added.facts.why}.",
        *added.facts.notices,
        f"Make a project with: protoleaf new PROJECT --backbone {added.files.name}",
    ]
    return "\n".join(lines)


def _fields(model: "ModelFiles") -> dict[str, Any]:
    rate = model.card.figures.get(RATE)
    return {
        "name": model.name,
        "width": model.card.embedding_width,
        "input_side": model.card.input_side,
        "size_bytes": model.backbone.stat().st_size,
        "origin": _origin(model),
        "images_per_s_one_core": rate,
        "file": str(model.backbone),
        "backbone_hash": model.backbone_hash,
        "has_own_propagation": model.has_own_propagation,
    }


def _line(model: "ModelFiles") -> str:
    rate = model.card.figures.get(RATE)
    return (
        f"{model.name:<40}{model.card.embedding_width:>7}{model.card.input_side:>6}{_size(model):>11}"
        f"{'-' if rate is None else f'{rate:,.0f}':>10}  {_origin(model)}"
    )


def _origin(model: "ModelFiles") -> str:
    if model.is_bundled:
        return "bundled"
    return "torchvision" if model.name.startswith("torchvision-") else "added"


def _size(model: "ModelFiles") -> str:
    return size_text(model.backbone.stat().st_size)
