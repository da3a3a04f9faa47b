"""A network without an entry in timm, built by timm from its repository's description on the hub.

Only plain settings are taken from there: nothing of a repository is run, and no address in it is
followed.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.backbones.published.facts import HUB_PREFIX, PublishedNetwork, licence_in_words
from engine.backbones.published.route import Route
from engine.backbones.published.timm_networks import (
    BYTES_PER_NUMBER,
    NOT_KNOWN,
    WEIGHT_NAMES,
    facts_from,
    shape_of,
)
from engine.backbones.published.web_client import (
    check_repository,
    file_address,
    page_address,
    query_file,
    read_text,
)
from engine.errors import ModelError
from engine.events import CancelToken
from engine.texts import either, enumerated, marked

LATEST = "main"
_SIDES = (
    "input_size",
    "crop_pct",
    "interpolation",
    "crop_mode",
    "mean",
    "std",
    "fixed_input_size",
)
_HEADS = ("num_classes", "pool_size", "first_conv", "classifier", "label_offset")
_WHERE_FROM = frozenset(
    (
        "checkpoint_path",
        "cache_dir",
        "pretrained",
        "pretrained_cfg",
        "pretrained_cfg_overlay",
        "features_only",
        "in_chans",
    )
)
"""Options of timm that name files or another use: refused."""
_LICENCE = re.compile(
    r"^(?P<field>license|license_name):[ \t]*[\"']?(?P<name>[\w.+-]+)", re.MULTILINE
)
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Raised by settings without meaning."""
Read = Callable[[str], str | None]
OPEN_CLIP_WEIGHTS = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "open_clip_pytorch_model.bin",
)
"""Names on the hub, the best first."""
_MEAN = (0.48145466, 0.4578275, 0.40821073)
"""And the next: OpenAI's CLIP, the default of open_clip."""
_STD = (0.26862954, 0.26130258, 0.27577711)
_ARCHITECTURES: Mapping[tuple[int, int, int], str] = {
    (768, 12, 32): "vit_base_patch32_clip{}_224",
    (768, 12, 16): "vit_base_patch16_clip{}_224",
    (1024, 24, 14): "vit_large_patch14_clip{}_224",
    (1280, 32, 14): "vit_huge_patch14_clip{}_224",
}
"""By width, layers and patch; larger networks have settings of their own."""


def plain_facts(name: str, weights: str | None = None) -> PublishedNetwork:
    """Parse "hf-hub:imageomics/bioclip" or "hf-hub:imageomics/bioclip@revision".

    Raises:
        ModelError: it is not the name of a network on the hub.
    """
    repository, _, revision = name.removeprefix(HUB_PREFIX).partition("@")
    revision = revision or weights or LATEST
    check_repository(repository, revision)
    page = page_address(repository)
    return PublishedNetwork(
        network=HUB_PREFIX + repository,
        weights="" if revision == LATEST else revision,
        is_default=revision == LATEST,
        url="",
        sha256_prefix="",
        size_bytes=0,
        parameters=0,
        embedding_width=0,
        licence="",
        licence_url=page,
        recipe_url=page,
        **NOT_KNOWN,
    )


def described_by_hub(
    known: PublishedNetwork, route: Route, cancel: CancelToken
) -> PublishedNetwork:
    """Read how a network is built, and what its weights are, from its repository: some small files.

    Raises:
        ModelError: the repository is of no kind that timm can build, or has no weights.
        NetworkError: the hub cannot be asked.
        UsageError: the route leads nowhere.
        Cancelled: stopped by the person.
    """
    route.check()
    repository, revision = known.network.removeprefix(HUB_PREFIX), known.weights or LATEST
    read = _reader(repository, revision, route, cancel)
    settings, names = _settings(read, repository)
    _check_settings(settings, repository)
    try:
        facts = facts_from(settings["pretrained_cfg"], known)
    except _UNREADABLE as error:
        raise _unreadable(
            marked("the preprocessing of {repository} cannot be read"), repository, error
        ) from error
    facts = replace(facts, licence=licence_in_words(_licence(read)), settings=json.dumps(settings))
    body, width = shape_of(facts)
    parameters = body + (width + 1) * max(0, settings["pretrained_cfg"].get("num_classes", 0))
    facts = replace(
        facts,
        parameters=parameters,
        size_bytes=BYTES_PER_NUMBER * parameters,
        embedding_width=width,
    )
    return _with_place(facts, [file_address(repository, revision, name) for name in names], route)


def _reader(repository: str, revision: str, route: Route, cancel: CancelToken) -> Read:
    def read(name: str) -> str | None:
        url = file_address(repository, revision, name)
        if route.folder is None:
            return read_text(route.address(url), route, cancel=cancel)
        path = route.on_disk(url)
        return None if path is None else path.read_text(encoding="utf-8", errors="replace")

    return read


def _settings(read: Read, repository: str) -> tuple[dict[str, Any], Sequence[str]]:
    """The settings that timm builds it from, and the names that its weights may have."""
    for name, understand, weights in (
        ("config.json", _settings_of_timm, WEIGHT_NAMES),
        ("open_clip_config.json", settings_of_open_clip, OPEN_CLIP_WEIGHTS),
    ):
        text = read(name)
        try:
            found = None if text is None else understand(json.loads(text))
        except _UNREADABLE as error:
            raise _unreadable(
                marked("{file} of {repository} cannot be read"), repository, error, file=name
            ) from error
        if found is not None:
            return found, weights
    raise ModelError(
        "{repository} is not a network that timm can build",
        expected="config.json of timm, or open_clip_config.json with a ViT",
        found="neither",
        remedy="check the name, or take one of `protoleaf backbone list --published --source timm`",
        repository=repository,
    )


def _unreadable(what: str, repository: str, error: Exception, *, file: str = "") -> ModelError:
    return ModelError(
        what, found=f"{type(error).__name__}: {error}", repository=repository, file=file
    )


def _settings_of_timm(config: dict[str, Any]) -> dict[str, Any] | None:
    """Settings from a configuration of timm, new or old; None for another program's."""
    if "architecture" not in config:
        return None
    settings = config.get("pretrained_cfg", config)
    pretrained = {name: settings[name] for name in (*_SIDES, *_HEADS) if name in settings}
    if "num_classes" in config:
        pretrained["num_classes"] = config["num_classes"]
    return {
        "architecture": config["architecture"],
        "pretrained_cfg": pretrained,
        "model_args": dict(config.get("model_args") or {}),
    }


def _check_settings(settings: Mapping[str, Any], repository: str) -> None:
    """Refuse anything but a description of one of timm's own architectures for square images."""
    from timm.models import is_model

    architecture, side = settings["architecture"], settings["pretrained_cfg"].get("input_size")
    if not isinstance(architecture, str) or not is_model(architecture):
        raise ModelError(
            "the installed timm does not have the network's architecture",
            expected="one of timm's",
            found="“{architecture}” in {repository}",
            remedy="a newer timm may support it",
            architecture=architecture,
            repository=repository,
        )
    if not isinstance(side, list) or side != [3, *side[-1:] * 2]:
        raise ModelError(
            "the network takes no square colour images", expected="[3, side, side]", found=str(side)
        )
    forbidden = sorted(_WHERE_FROM.intersection(settings["model_args"]))
    if forbidden:
        raise ModelError(
            "{repository} requires more than building a network",
            found=enumerated(forbidden),
            repository=repository,
        )


def _licence(read: Read) -> str:
    _, _, rest = (read("README.md") or "").partition("---")
    head, _, _ = rest.partition("\n---")
    found = {match["field"]: match["name"] for match in _LICENCE.finditer(head)}
    short = found.get("license", "")
    return found.get("license_name", short) if short == "other" else short


def _with_place(facts: PublishedNetwork, urls: Sequence[str], route: Route) -> PublishedNetwork:
    for url in urls:
        path = route.on_disk(url)
        if path is not None:
            return replace(facts, url=url, size_bytes=path.stat().st_size)
        remote = query_file(route.address(url), route) if route.folder is None else None
        if remote is not None:
            size = remote.size_bytes or facts.size_bytes
            return replace(facts, url=remote.url, sha256_prefix=remote.sha256, size_bytes=size)
    raise ModelError(
        "{title} has no weights that can be read as plain numbers",
        expected=either(map(_file_name, urls)),
        found="none of them",
        title=facts.title,
    )


def _file_name(url: str) -> str:
    return url.rpartition("/")[2]


def settings_of_open_clip(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings that timm builds the image half from; None where timm has no such network."""
    model = config["model_cfg"]
    vision, preparation = model["vision_cfg"], config.get("preprocess_cfg", {})
    side = vision.get("image_size", 224)
    found = _of_timm(model, vision) or _of_open_clip(model, vision)
    if found is None or not isinstance(side, int):
        return None
    architecture, classes = found
    return {
        "architecture": architecture,
        "pretrained_cfg": {
            "input_size": [3, side, side],
            "crop_pct": 1.0,
            "crop_mode": "squash" if preparation.get("resize_mode") == "squash" else "center",
            "interpolation": preparation.get("interpolation", "bicubic"),
            "mean": list(preparation.get("mean", _MEAN)),
            "std": list(preparation.get("std", _STD)),
            "fixed_input_size": True,
            "num_classes": classes,
            "first_conv": "patch_embed.proj",
            "classifier": "head",
        },
        "model_args": {},
    }


def _of_timm(model: Mapping[str, Any], vision: Mapping[str, Any]) -> tuple[str, int] | None:
    """A network that open_clip itself takes from timm."""
    name = vision.get("timm_model_name")
    if name is None:
        return None
    return str(name), int(model["embed_dim"]) if vision.get("timm_proj") == "linear" else 0


def _of_open_clip(model: Mapping[str, Any], vision: Mapping[str, Any]) -> tuple[str, int] | None:
    """open_clip's own ViT, which is OpenAI's; its projection is a head for timm."""
    if not isinstance(vision.get("layers"), int):  # a list of four: a ResNet
        return None
    kind = int(vision["width"]), int(vision["layers"]), int(vision["patch_size"])
    if kind not in _ARCHITECTURES:
        return None
    return _ARCHITECTURES[kind].format("_quickgelu" if model.get("quick_gelu") else ""), int(
        model["embed_dim"]
    )
