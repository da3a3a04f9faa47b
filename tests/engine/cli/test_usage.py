"""Usage of the command line: help and usage errors."""

from pathlib import Path

import pytest

from engine import __version__
from engine.cli import commands, project_commands
from engine.errors import Cancelled
from engine.runtime.devices.facts import DEVICES, EXPERIMENTAL
from tests.support.collections import Collection
from tests.support.command_line import done, protoleaf, refused

COMMANDS = {
    "new",
    "import-graph",
    "import-images",
    "embed",
    "classify",
    "evaluate",
    "report",
    "train",
    "versions",
    "relink",
    "check",
    "suggest",
    "sample",
    "what-if",
    "menu-entry",
    "export",
    "export-graph",
    "import-labels",
    "merge",
    "unpack",
    "audit",
    "check-labels",
    "replaced",
    "images",
    "fields",
    "clock",
    "detect",
    "similar",
    "duplicates",
    "map",
    "backup",
    "backups",
    "restore",
    "policy",
    "backbone",
    "doctor",
    "benchmark",
    "experiment",
}


def test_commands_are_those_of_the_contract() -> None:
    """Any other first word is a project for the window."""
    assert commands.COMMAND_NAMES == COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_list_says_what_a_command_says_of_itself(name: str) -> None:
    """The list has the first paragraph of each command without loading it."""
    listed = {
        **{each: about for each, (_, about) in commands.COMMANDS.items()},
        **commands.LABORATORY,
    }
    assert listed[name] == " ".join(commands.loaded(name).help.partition("\n\n")[0].split())


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Printed to standard output with status 0; without arguments the help is printed, too."""
    assert done(capsys, "--version").out == f"protoleaf {__version__}\n"
    shown = done(capsys, "--help").out
    assert all(f"  {command} " in shown for command in COMMANDS)
    assert done(capsys).out.strip() == shown.strip()


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`protoleaf COMMAND --help` works."""
    assert f"Usage: protoleaf {command}" in done(capsys, command, "--help").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "nonsense"),
        (("new",), "PROJECT"),
        (("new", "a.protoleaf", "b.protoleaf"), "b.protoleaf"),
        (("embed", "a.protoleaf", "--devise", "cpu"), "--devise"),
        (("embed", "a.protoleaf", "--device", "abacus"), "abacus"),
        (
            (
                "backbone",
                "use",
                "a.protoleaf",
                "torchvision:resnet18",
                "--yes",
                "--device",
                "abacus",
            ),
            ", ".join(DEVICES),
        ),
        (("benchmark", "embed", "--device", "abacus"), "abacus"),
        (("experiment", "transfer", "nowhere", "--device", "abacus"), "abacus"),
        (
            ("backbone", "add", "torchvision:resnet18", "--proxy", "socks5://here:1"),
            "not a proxy's address",
        ),
        (("classify", "a.protoleaf"), "--out"),
        (
            ("classify", "a.protoleaf", "-o", "out.csv", "--setting", "magic"),
            "expected ppn+, ppn, prototypes",
        ),
        (("evaluate", "a.protoleaf"), "--truth"),
        (
            ("evaluate", "a.protoleaf", "--truth", "t.csv", "--setting", "magic"),
            "regression, all, found magic",
        ),
        (("new", "a.protoleaf", "--backbone", "b.onnx", "--preset", "magic"), "expected imagenet"),
        (("import-images", "a.protoleaf"), "PATH"),
        (("what-if", "a.protoleaf"), "no edits to try out"),
        (
            ("import-images", "a.protoleaf", "b", "--class", "x", "--folders-as-classes"),
            "exclude each other",
        ),
        (("benchmark", "collection", "--images", "3"), "--images"),
    ],
)
def test_misuse_is_one_line_and_status_2(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown or missing commands, options and arguments are reported before files are read."""
    assert message in refused(capsys, *arguments, status=2)


@pytest.mark.parametrize("group", ["backbone", "benchmark", "experiment"])
def test_a_group_alone_explains_itself(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The help on standard error, as a usage error."""
    answer = protoleaf(capsys, group)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"Usage: protoleaf {group} ")
    assert answer.err.strip() == done(capsys, group, "--help").out.strip()


def test_help_names_every_device(capsys: pytest.CaptureFixture[str]) -> None:
    """Also for changing the backbone; untested devices are marked."""
    for command in (("embed",), ("backbone", "use")):
        shown = " ".join(done(capsys, *command, "--help").out.split())
        assert (
            f"{', '.join(DEVICES[:-1])} or {DEVICES[-1]}. The last three are experimental." in shown
        )
    assert DEVICES[-3:] == tuple(EXPERIMENTAL)


def test_a_named_file_that_is_no_image(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is listed with its kind, and not added."""
    answer = done(capsys, "import-images", collection.project, collection.truth).out
    assert answer.startswith("Added 0 images")
    assert (
        f"1 file could not be added:\n  {collection.truth}: this is not an image that can be "
        "read: found text" in answer
    )


def test_unknown_graph_format(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """A usage error lists the formats."""
    line = refused(
        capsys, "import-graph", collection.project, collection.graph, "--format", "owl", status=2
    )
    assert "expected one of folders, wordnet, imagenet, " in line


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), Cancelled()])
def test_stopped_by_the_person(
    stop: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Status 130 and one line, without a traceback."""

    def interrupted(*_arguments: object) -> None:
        raise stop

    monkeypatch.setattr(project_commands, "print_result", interrupted)
    assert "what was finished is kept" in refused(
        capsys, "new", tmp_path / "a.protoleaf", status=130
    )


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_doctor(as_json: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It prints versions, every execution provider with a reason if it fails, and caches."""
    answer = done(capsys, "doctor", *(["--json"] if as_json else []))
    if not as_json:
        assert f"protoleaf           {__version__}" in answer.out
        assert str(tmp_path / "cache") in answer.out
        return
    fields = answer.fields
    assert fields["versions"]["protoleaf"] == __version__
    assert "leafnet" in fields["backbones"]
    providers = {provider["name"]: provider for provider in fields["providers"]}
    assert providers["CPUExecutionProvider"]["works"]
    assert all(provider["works"] or provider["reason"] for provider in providers.values())
    assert fields["device"]
    assert fields["reason"] or fields["device"] != "CPU"


def test_json_is_one_object_that_any_terminal_takes(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json standard output has one line with one object, in ASCII."""
    answer = protoleaf(capsys, "import-images", collection.project, collection.unsorted, "--json")
    assert answer.out.count("\n") == 1
    assert answer.fields == {
        "added": 0,
        "already_there": 40,
        "labelled": 0,
        "classes_added": 0,
        "failures": [],
        "left_out": {},
        "other_files": 0,
        "raw_doubles": 0,
    }
