"""Timm networks on the command line: listed by publisher and word, and read from a folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.backbones.published.facts import PublishedNetwork
from tests.support.backbone_jobs import SMALL
from tests.support.collections import cache_of_test
from tests.support.command_line import done, protoleaf, refused
from tests.support.published_networks import keep_in_list

DINOV2: PublishedNetwork = replace(
    SMALL,
    publisher="timm",
    network="vit_small_patch14_dinov2",
    weights="lvd142m",
    top1=None,
    top5=None,
    billion_operations=None,
    input_side=518,
    sha256_prefix="",
    size_bytes=88_200_000,
    licence="Apache 2.0",
    url="https://huggingface.co/timm/vit_small_patch14_dinov2.lvd142m/resolve/main/model."
    "safetensors",
)
SOURCE = "timm:vit_small_patch14_dinov2.lvd142m"


@pytest.fixture(autouse=True)
def lists(own_caches: None) -> None:
    """Cached lists of each publisher."""
    keep_in_list(cache_of_test(), [SMALL, DINOV2])


def test_the_list_is_narrowed(capsys: pytest.CaptureFixture[str]) -> None:
    """By publisher and words; unknown values are a dash, which a line explains."""
    everything = done(capsys, "backbone", "list", "--published").out
    assert "torchvision:smallnet" in everything
    assert SOURCE in everything
    lines = done(capsys, "backbone", "list", "--published", "--source", "timm").out.splitlines()
    (row,) = [line for line in lines if line.startswith(("timm:", "torchvision:"))]
    columns = "lvd142m * about 88.2 MB 1,200,000 - 518 512 Apache 2.0"
    assert row.split() == [SOURCE, *columns.split()]
    found = done(
        capsys, "backbone", "list", "--published", "--search", "apache DINO", "--json"
    ).fields["networks"]
    assert [network["source"] for network in found] == [SOURCE]
    nothing = done(capsys, "backbone", "list", "--published", "--search", "resnet").out
    assert "None of 2 networks matches" in nothing


def test_options_of_the_list_need_it(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, also for an unknown publisher."""
    assert "for published networks" in refused(
        capsys, "backbone", "list", "--search", "x", status=2
    )
    line = refused(capsys, "backbone", "list", "--published", "--source", "keras")
    assert "expected torchvision or timm" in line


def test_terms_come_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Size, licence and source of the weights, before any download."""
    line = refused(capsys, "backbone", "add", SOURCE, status=2)
    assert (
        "vit_small_patch14_dinov2 with weights lvd142m must be downloaded: about 88.2 MB; "
        "licence: Apache 2.0" in line
    )
    answer = protoleaf(capsys, "backbone", "add", SOURCE, "--yes", "--mirror", tmp_path)
    assert answer.status == 1
    assert f"from {tmp_path}" in answer.err
    assert "the mirror's folder does not have these weights" in answer.err
    assert "the mirror is not a folder" in refused(
        capsys, "backbone", "add", SOURCE, "--mirror", "gone", status=2
    )
    line = refused(
        capsys,
        "new",
        tmp_path / "p.protoleaf",
        "--backbone",
        "leafnet",
        "--mirror",
        tmp_path,
        status=2,
    )
    assert "a mirror is only for the download of a published network" in line
