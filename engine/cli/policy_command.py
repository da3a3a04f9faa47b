"""The `policy` command: thresholds, keys and the locked class list."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import print_result
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.project import ClassId, ClassPolicy, Project

FROM_PARENT = "parent"


def policy(
    project: ProjectPath,
    class_text: Annotated[
        str | None,
        Argument(metavar="[CLASS]", help="Name, path, source id or synonym of a class."),
    ] = None,
    *,
    confidence: Annotated[
        str | None,
        Option(
            metavar="0..1", help='Minimum confidence of CLASS and its descendants, or "parent".'
        ),
    ] = None,
    is_deepest: Annotated[
        bool | None,
        Option("--no-subclasses/--subclasses", help="Whether subclasses of CLASS are predicted."),
    ] = None,
    is_broadest: Annotated[
        bool | None,
        Option("--no-broader/--broader", help="Whether broader classes than CLASS are predicted."),
    ] = None,
    key: Annotated[
        int | None,
        Option(min=0, max=9, help="Digit that, with Alt, labels images as CLASS; 0 for none."),
    ] = None,
    level: Annotated[
        int | None,
        Option(min=0, help="Predict no coarse class above this level; 0 is the top level."),
    ] = None,
    is_locked: Annotated[
        bool | None,
        Option("--lock/--unlock", help="Whether new classes need a confirmation."),
    ] = None,
) -> None:
    """List or change the policies of a project."""
    of_class = (confidence, is_deepest, is_broadest, key)
    if class_text is None and any(each is not None for each in of_class):
        raise UsageError("a rule for a class needs a class", remedy="name it after the project")
    changes = any(each is not None for each in (*of_class, level, is_locked))
    bar = None if confidence is None else _bar_of(confidence)
    with open_project(project, for_writing=changes) as opened:
        if class_text is not None:
            class_id = opened.classes.graph.find(class_text)
            _change_class(opened, class_id, bar, is_deepest, is_broadest)
            if key is not None:
                opened.classes.set_key(class_id, key)
        if level is not None:
            opened.policies.set_broadest_level(level)
        if is_locked is not None:
            opened.policies.lock(is_on=is_locked)
        fields = _fields(opened)
    print_result(_text(fields), fields)


def _bar_of(text: str) -> tuple[float | None]:
    if text == FROM_PARENT:
        return (None,)
    try:
        return (float(text),)
    except ValueError:
        raise UsageError(
            "this is not a confidence",
            expected='0 to 1, or "parent"',
            found=text,
            remedy="such as 0.9",
        ) from None


def _change_class(
    project: "Project",
    class_id: "ClassId",
    bar: tuple[float | None] | None,
    is_deepest: bool | None,
    is_broadest: bool | None,
) -> None:
    from engine.project import ClassPolicy

    known = project.policies.by_class().get(class_id, ClassPolicy())
    wanted: ClassPolicy = replace(
        known,
        bar=known.bar if bar is None else bar[0],
        is_deepest=known.is_deepest if is_deepest is None else is_deepest,
        is_broadest=known.is_broadest if is_broadest is None else is_broadest,
    )
    if wanted != known:
        project.policies.set(class_id, wanted)


def _fields(project: "Project") -> dict[str, Any]:
    graph, policies, keys = (
        project.classes.graph,
        project.policies.by_class(),
        project.classes.graph.class_keys(),
    )
    listed = sorted({*policies, *keys.values()})
    return {
        "class_list_locked": project.policies.is_locked,
        "broadest_level": project.policies.broadest_level,
        "classes": [_class_fields(graph, class_id, policies) for class_id in listed],
    }


def _class_fields(
    graph: "CategoryGraph", class_id: "ClassId", policies: "Mapping[ClassId, ClassPolicy]"
) -> dict[str, Any]:
    own = policies.get(class_id)
    return {
        "class": graph.path_text(class_id),
        "confidence": None if own is None else own.bar,
        "subclasses": own is None or not own.is_deepest,
        "broader": own is None or not own.is_broadest,
        "key": graph.key_of(class_id),
    }


def _text(fields: Mapping[str, Any]) -> str:
    level = fields["broadest_level"]
    lines = [
        "The class list is locked."
        if fields["class_list_locked"]
        else "The class list is not locked.",
        f"No coarse class above level {level} is predicted."
        if level
        else "Classes of any level are predicted.",
    ]
    return "\n".join([*lines, *map(_class_text, fields["classes"])])


def _class_text(one: Mapping[str, Any]) -> str:
    rules = [
        "" if one["confidence"] is None else f"minimum confidence {one['confidence']:.2f}",
        "" if one["subclasses"] else "no subclasses",
        "" if one["broader"] else "no broader classes",
        f"key {one['key']}" if one["key"] else "",
    ]
    return f"{one['class']}: {', '.join(filter(None, rules))}"
