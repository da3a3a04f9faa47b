"""Actions as codes and arguments, and their texts.

A project file stores a code with names and numbers, never a sentence. Each code has English
templates
here: in the past tense for a notification and the history, imperative for Undo and Redo. All of
them are constants with named fields, so that a translation can take them as keys.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from types import MappingProxyType
from typing import Any

from engine.errors import ProjectDamagedError
from engine.graph.class_attributes import ATTRIBUTE
from engine.texts import (
    Message,
    counted,
    enumerated,
    filled,
    joined,
    listed,
    marked,
    number_text,
    translated,
)

Argument = str | int | Sequence["Action"]
"""A name, a number, or further actions; several values of a name are given as their number."""

LONGEST_ARGUMENT = 1_000
_CODE, _ARGUMENTS = "code", "arguments"
_CLASS_FIELDS = frozenset(
    {"class", "classes", "chosen", "parent", "parents", "heir", "from", "other"}
)
"""Fields that hold the name of a class, where they hold a text."""
_RENAMING = frozenset({"class_renamed"})
_SENTENCE = "sentence"


@dataclass(frozen=True)
class Action:
    """An action; without a code it has the sentence of a version before 7, or nothing."""

    code: str = ""  # a key of `ACTIONS`
    # fields of its templates
    arguments: Mapping[str, Argument] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return _rendered(self, is_command=False)

    @property
    def command(self) -> str:
        """As Undo and Redo name it: "Label 3 images as Gull" for "Labelled 3 images as Gull"."""
        verb, space, rest = self.sentence.partition(" ")
        return (
            _rendered(self, is_command=True)
            if self.code
            else f"{_COMMANDS.get(verb, verb)}{space}{rest}"
        )

    def with_names(self, shown_as: Callable[[str], str]) -> "Action":
        """The action with displayed names of classes, except of those that it changes itself."""
        if self.code in _RENAMING:
            return self
        named: dict[str, Argument] = {
            field: shown_as(value) if isinstance(value, str) and field in _CLASS_FIELDS else value
            for field, value in self.arguments.items()
        }
        within = {
            field: tuple(each.with_names(shown_as) for each in value)
            for field, value in named.items()
            if not isinstance(value, str | int)
        }
        return Action(self.code, named | within)

    @property
    def sentence(self) -> str:
        """The old sentence; "" for an action with a code."""
        return str(self.arguments.get(_SENTENCE, ""))

    @property
    def stored_arguments(self) -> str:
        """The arguments as JSON, without an old sentence."""
        return json.dumps(_plain(self)[_ARGUMENTS], ensure_ascii=False) if self.code else "{}"


UNNAMED = Action()  # A step within another one, which names them all


def action(code: str, class_name: str | None = None, /, **arguments: Argument) -> Action:
    """An action with its arguments; the one class that it is about is the field `class`."""
    return Action(code, arguments if class_name is None else {"class": class_name, **arguments})


def old_action(sentence: str) -> Action:
    """An action of which only an English sentence is known."""
    return Action("", {_SENTENCE: sentence} if sentence else {})


def stored_action(sentence: str, code: str = "", arguments: str = "{}") -> Action:
    """The action in a row of the history; rows from before version 7 have a sentence only.

    Raises:
        ProjectDamagedError: the arguments cannot be read.
    """
    if not code:
        return old_action(sentence)
    try:
        return _action_of({_CODE: code, _ARGUMENTS: json.loads(arguments)})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ProjectDamagedError(
            "an action in the history cannot be read",
            found=repr(arguments)[:80],
            remedy="restore a backup or open an earlier copy of the file",
        ) from error


def one_or_count(names: Sequence[str]) -> str | int:
    """The name where there is one, else how many."""
    return names[0] if len(names) == 1 else len(names)


def added(images: int, labels: int = 0, class_names: Sequence[str] = ()) -> Action:
    """Adding images: "Added 12 images as Gull", "Added 2,640 images in 27 classes".

    Args:
        images: new images.
        labels: labels that came along, of old images too.
        class_names: the classes they name, where exactly the new images got one; else empty.
    """
    if len(class_names) == 1:
        return action("images_added_as", class_names[0], images=images)
    if class_names:
        return action("images_added_in", images=images, classes=len(class_names))
    if images and labels:
        return action("images_and_labels_added", images=images, labels=labels)
    return (
        action("labels_added", labels=labels) if labels else action("images_added", images=images)
    )


def attributes_changed(attributes: Sequence[str], names: Sequence[str]) -> Action:
    """A change of attributes of classes: "Changed note and colour of Gull".

    Args:
        attributes: names of those in `engine.graph.class_attributes.ATTRIBUTES` that changed.
        names: of the classes.
    """
    code = "attributes_changed" if len(attributes) > 1 else "attribute_changed"
    return action(
        code, attributes=" ".join(attributes) or "attributes", classes=one_or_count(names)
    )


@dataclass(frozen=True, slots=True)
class ActionText:
    """Templates of the sentences for an action."""

    past: str  # for a toast and the history
    command: str  # for Undo and Redo
    tails: tuple[str, ...] = ()  # what follows at once, each where the action has its arguments
    details: tuple[str, ...] = ()  # what else happened, each where the action has its arguments
    frame: str = " ({details})"  # what holds the details


_RELABELLED = (
    marked("{relabelled} had another label"),
    marked("was {from}"),
    marked("was {other}, by {name}"),
)
"""Replaced labels; of a single image the class, and another annotator."""
_BELOW = (marked(" and {below_it} below it"), marked(" and {below_them} below them"))

ACTIONS: Mapping[str, ActionText] = {
    "images_added": ActionText("Added {images}", "Add {images}"),
    "images_added_as": ActionText("Added {images} as {class}", "Add {images} as {class}"),
    "images_added_in": ActionText("Added {images} in {classes}", "Add {images} in {classes}"),
    "images_and_labels_added": ActionText(
        "Added {images} and {labels}", "Add {images} and {labels}"
    ),
    "images_removed": ActionText("Removed {images}", "Remove {images}"),
    "images_found": ActionText("Found {moved_images} again", "Find {moved_images} again"),
    "sample_classes_added": ActionText("Added the sample's classes", "Add the sample's classes"),
    "sample_images_added": ActionText("Added the sample's images", "Add the sample's images"),
    "labelled": ActionText(
        "Labelled {images} as {class}", "Label {images} as {class}", details=_RELABELLED
    ),
    "labelled_as_none": ActionText(
        "Labelled {images} as none of the classes",
        "Label {images} as none of the classes",
        details=_RELABELLED,
    ),
    "labelled_as_empty": ActionText(
        "Labelled {images} as empty", "Label {images} as empty", details=_RELABELLED
    ),
    "boxes_added": ActionText("Added {boxes}", "Add {boxes}"),
    "things_found": ActionText("Found {boxes} with {source}", "Find {boxes} with {source}"),
    "categories_hidden": ActionText("Hid people and vehicles", "Hide people and vehicles"),
    "categories_shown": ActionText("Showed people and vehicles", "Show people and vehicles"),
    "box_changed": ActionText("Changed a box", "Change a box"),
    "things_added": ActionText("Added {things}", "Add {things}"),
    "labels_added": ActionText("Added {labels}", "Add {labels}"),
    "labels_imported": ActionText("Imported {labels}", "Import {labels}"),
    "labels_imported_from": ActionText(
        "Imported {labels} from {source}",
        "Import {labels} from {source}",
        details=(marked("{boxes}"),),
    ),
    "class_excluded": ActionText("Excluded {class} for {images}", "Exclude {class} for {images}"),
    "labels_removed": ActionText("Removed {labels}", "Remove {labels}"),
    "labels_signed": ActionText("Signed {labels} as {name}", "Sign {labels} as {name}"),
    "labels_corrected": ActionText("Corrected {labels}", "Correct {labels}"),
    "labels_confirmed": ActionText("Confirmed {labels}", "Confirm {labels}"),
    "stars_given": ActionText("Gave {images} {stars}", "Give {images} {stars}"),
    "stars_removed": ActionText("Removed the stars of {images}", "Remove the stars of {images}"),
    "images_flagged": ActionText("Flagged {images}", "Flag {images}"),
    "flags_removed": ActionText("Removed the flag of {images}", "Remove the flag of {images}"),
    "images_commented": ActionText("Commented on {images}", "Comment on {images}"),
    "comments_removed": ActionText(
        "Removed the comment of {images}", "Remove the comment of {images}"
    ),
    "notes_added": ActionText("Added notes on {images}", "Add notes on {images}"),
    "field_set": ActionText(
        "Set {field} of {images} to {value}", "Set {field} of {images} to {value}"
    ),
    "fields_set": ActionText("Set {fields} of {images}", "Set {fields} of {images}"),
    "field_removed": ActionText("Removed {field} of {images}", "Remove {field} of {images}"),
    "field_values_added": ActionText("Added {values}", "Add {values}"),
    "fields_defined": ActionText(
        "Changed the fields of images", "Change the fields of images", details=("{values} removed",)
    ),
    "field_renamed": ActionText(
        "Renamed the field {field} to {name}", "Rename the field {field} to {name}"
    ),
    "choice_renamed": ActionText(
        "Renamed {choice} of {field} to {name}", "Rename {choice} of {field} to {name}"
    ),
    "clock_corrected": ActionText(
        "Corrected the clock of {source}", "Correct the clock of {source}"
    ),
    "clock_correction_removed": ActionText(
        "Removed the correction of the clock of {source}",
        "Remove the correction of the clock of {source}",
    ),
    "predictions_accepted": ActionText(
        "Accepted {images} in {classes}", "Accept {images} in {classes}"
    ),
    "audit_drawn": ActionText(
        "Drew {images} to check at random", "Draw {images} to check at random"
    ),
    "audit_grown": ActionText(
        "Drew {images} more to check at random", "Draw {images} more to check at random"
    ),
    "class_created": ActionText(
        "Created class {class} with {images}",
        "Create class {class} with {images}",
        details=_RELABELLED,
    ),
    "class_added": ActionText("Added class {class}", "Add class {class}"),
    "parent_added": ActionText(
        "Added class {class} above {classes}", "Add class {class} above {classes}"
    ),
    "class_renamed": ActionText(
        "Renamed class {class} to {name}", "Rename class {class} to {name}"
    ),
    "classes_moved": ActionText("Moved {chosen} to {parent}", "Move {chosen} to {parent}"),
    "classes_moved_from": ActionText(
        "Moved {chosen} from {parents} to {parent}", "Move {chosen} from {parents} to {parent}"
    ),
    "classes_moved_to_top": ActionText(
        "Moved {chosen} to the top level", "Move {chosen} to the top level"
    ),
    "classes_linked": ActionText(
        "Added parent {parent} to {classes}", "Add parent {parent} to {classes}"
    ),
    "classes_unlinked": ActionText(
        "Unlinked {classes} from {parents}", "Unlink {classes} from {parents}"
    ),
    "classes_removed": ActionText(
        "Removed {chosen}",
        "Remove {chosen}",
        _BELOW,
        ("{labels} moved to {heir}", "{labels_up} moved to their parents", "{labels_gone} removed"),
    ),
    "classes_merged": ActionText(
        "Merged {classes} into {class}", "Merge {classes} into {class}", details=("{labels} moved",)
    ),
    "class_split": ActionText(
        "Split {classes} off {class}", "Split {classes} off {class}", details=("{labels} moved",)
    ),
    "classes_pasted": ActionText("Pasted {chosen}", "Paste {chosen}", (*_BELOW, " into {parent}")),
    "attribute_changed": ActionText(
        "Changed the {attributes} of {classes}", "Change the {attributes} of {classes}"
    ),
    "attributes_changed": ActionText(
        "Changed {attributes} of {classes}", "Change {attributes} of {classes}"
    ),
    "threshold_changed": ActionText(
        "Changed the minimum confidence of {class}", "Change the minimum confidence of {class}"
    ),
    "predictions_stopped": ActionText(
        "Stopped predictions at {class}", "Stop predictions at {class}"
    ),
    "predictions_allowed": ActionText(
        "Allowed predictions below {class}", "Allow predictions below {class}"
    ),
    "key_set": ActionText("Gave {class} the key {key}", "Give {class} the key {key}"),
    "key_removed": ActionText("Removed the key of {class}", "Remove the key of {class}"),
    "predictions_begun": ActionText(
        "Stopped predictions above {class}", "Stop predictions above {class}"
    ),
    "broader_predictions_allowed": ActionText(
        "Allowed predictions above {class}", "Allow predictions above {class}"
    ),
    "classes_imported": ActionText(
        "Imported {classes} from {source}",
        "Import {classes} from {source}",
        details=("locked the class list, as it has more than {limit}",),
    ),
    "class_list_locked": ActionText("Locked the class list", "Lock the class list"),
    "class_list_unlocked": ActionText("Unlocked the class list", "Unlock the class list"),
    "broadest_level_set": ActionText(
        "Limited predictions to level {level} and below",
        "Limit predictions to level {level} and below",
    ),
    "broadest_level_removed": ActionText(
        "Allowed predictions of any level", "Allow predictions of any level"
    ),
    "links_imported": ActionText(
        "Imported {parents} from {source}", "Import {parents} from {source}"
    ),
    "synonyms_imported": ActionText(
        "Imported synonyms of {classes} from {source}", "Import synonyms of {classes} from {source}"
    ),
    "notes_imported": ActionText(
        "Imported notes of {classes} from {source}", "Import notes of {classes} from {source}"
    ),
    "source_remembered": ActionText(
        "Remembered the classes of {source}", "Remember the classes of {source}"
    ),
    "classes_updated": ActionText(
        "Updated from {source}",
        "Update from {source}",
        details=(
            "{new_classes}",
            "{renamed} renamed",
            "{moved} moved",
            "{merged} merged",
            "{removed} removed",
            "synonyms of {classes}",
        ),
        frame=": {details}",
    ),
    "project_merged": ActionText(
        "Merged {source}",
        "Merge {source}",
        details=("{labels}", "{new_classes}", "{images}", "{notes}", "{values}"),
        frame=": {details}",
    ),
    "comment_settled": ActionText("Settled two comments", "Settle two comments"),
    "conflict_settled": ActionText("Settled a conflict as {class}", "Settle a conflict as {class}"),
    "conflict_settled_as_none": ActionText(
        "Settled a conflict as none of the classes", "Settle a conflict as none of the classes"
    ),
    "conflict_settled_as_empty": ActionText(
        "Settled a conflict as empty", "Settle a conflict as empty"
    ),
    "model_chosen": ActionText("Switched to model {model}", "Switch to model {model}"),
    "backbone_changed": ActionText(
        "Changed the backbone to {backbone}", "Change the backbone to {backbone}"
    ),
    "burst_seconds_set": ActionText(
        "Set the maximum gap in a burst to {seconds}", "Set the maximum gap in a burst to {seconds}"
    ),
    "search_saved": ActionText("Saved the search {search}", "Save the search {search}"),
    "search_renamed": ActionText(
        "Renamed the search {search} to {name}", "Rename the search {search} to {name}"
    ),
    "search_removed": ActionText(
        "Removed the saved search {search}", "Remove the saved search {search}"
    ),
    "setting_changed": ActionText("Changed the setting {setting}", "Change the setting {setting}"),
    "stage_turned_on": ActionText(
        "Turned on learning from unlabelled images", "Turn on learning from unlabelled images"
    ),
    "stage_turned_off": ActionText(
        "Turned off learning from unlabelled images", "Turn off learning from unlabelled images"
    ),
    "place_dismissed": ActionText(
        "Dismissed a suggestion: {class} may belong under {parent}",
        "Dismiss a suggestion: {class} may belong under {parent}",
    ),
    "stray_dismissed": ActionText(
        "Dismissed a suggestion: {class} may belong under {parent} instead of {from}",
        "Dismiss a suggestion: {class} may belong under {parent} instead of {from}",
    ),
    "twins_dismissed": ActionText(
        "Dismissed a suggestion: {class} and {other} look like one class",
        "Dismiss a suggestion: {class} and {other} look like one class",
    ),
    "mixed_dismissed": ActionText(
        "Dismissed a suggestion: {class} looks like two classes",
        "Dismiss a suggestion: {class} looks like two classes",
    ),
    "underlabelled_dismissed": ActionText(
        "Dismissed a suggestion: 3 more examples of {class} would help about {images}",
        "Dismiss a suggestion: 3 more examples of {class} would help about {images}",
    ),
    "suggestions_shown": ActionText(
        "Showed dismissed suggestions again", "Show dismissed suggestions again"
    ),
    "nothing_tried": ActionText("Tried out nothing", "Try out nothing"),
    "edits_tried": ActionText("Tried out {edits}: {first}", "Try out {edits}: {first}"),
    "more_edits_tried": ActionText("Tried out {edits}: {first}; …", "Try out {edits}: {first}; …"),
}

_COUNTS: Mapping[str, tuple[str, str]] = {
    "images": ("image", "images"),
    "moved_images": ("moved image", "moved images"),
    "boxes": ("box", "boxes"),
    "things": ("thing", "things"),
    "labels": ("label", "labels"),
    "labels_up": ("label", "labels"),
    "labels_gone": ("label", "labels"),
    "classes": ("class", "classes"),
    "chosen": ("class", "classes"),
    "new_classes": ("new class", "new classes"),
    "parents": ("parent", "parents"),
    "notes": ("note", "notes"),
    "edits": ("edit", "edits"),
    "values": ("value", "values"),
    "fields": ("field", "fields"),
    "seconds": ("second", "seconds"),
    "stars": ("star", "stars"),
}
"""Singular and plural nouns of counts; other numbers have none."""

_NAMES: Mapping[str, str] = {
    "chosen": Message("class {name}")
}  # fields where a name needs its noun

_COMMANDS = {
    "Accepted": "Accept",
    "Added": "Add",
    "Allowed": "Allow",
    "Changed": "Change",
    "Created": "Create",
    "Dismissed": "Dismiss",
    "Found": "Find",
    "Imported": "Import",
    "Labelled": "Label",
    "Marked": "Mark",
    "Merged": "Merge",
    "Moved": "Move",
    "Pasted": "Paste",
    "Remembered": "Remember",
    "Removed": "Remove",
    "Renamed": "Rename",
    "Showed": "Show",
    "Stopped": "Stop",
    "Switched": "Switch",
    "Tried": "Try",
    "Turned": "Turn",
    "Unlinked": "Unlink",
    "Updated": "Update",
}
"""Verbs of old sentences."""


def _rendered(action: Action, *, is_command: bool) -> str:
    text = ACTIONS.get(action.code)
    if text is None:
        return action.sentence or action.code
    words = {name: _word(name, value) for name, value in action.arguments.items()}
    tails = (tail for tail in text.tails if words.keys() >= _fields(tail))
    sentence = joined(
        _filled(each, words) for each in (text.command if is_command else text.past, *tails)
    )
    named = enumerated(
        _filled(detail, words) for detail in text.details if words.keys() >= _fields(detail)
    )
    details = named.translated() if isinstance(named, Message) else named
    return sentence + (_filled(text.frame, {"details": details}) if details else "")


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = translated(template)
    # "?" in a damaged file
    return filled(text, {name: words.get(name, "?") for name in _fields(text)})


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _word(name: str, value: Argument) -> str:
    if isinstance(value, str) and name == "attributes":
        titles = (ATTRIBUTE[each].title if each in ATTRIBUTE else each for each in value.split())
        return translated(listed(map(Message, titles)))
    if isinstance(value, str):
        return _filled(_NAMES[name], {"name": value}) if name in _NAMES else value
    if isinstance(value, int):
        return (
            translated(counted(value, *_COUNTS[name]))
            if name in _COUNTS
            else number_text(value, ",")
        )
    return "; ".join(map(str, value))


def _plain(action: Action) -> dict[str, Any]:
    """As JSON has it; an action within another holds no further ones."""
    return {_CODE: action.code, _ARGUMENTS: _each_value(action.arguments, _plain_within)}


def _plain_within(actions: Iterable[Action]) -> list[dict[str, Any]]:
    return [
        {_CODE: each.code, _ARGUMENTS: _each_value(each.arguments, _refused)} for each in actions
    ]


def _action_of(stored: Mapping[str, Any]) -> Action:
    return Action(str(stored[_CODE]), _each_value(stored[_ARGUMENTS], _actions_within))


def _actions_within(stored: Iterable[Mapping[str, Any]]) -> tuple[Action, ...]:
    return tuple(
        Action(str(each[_CODE]), _each_value(each[_ARGUMENTS], _refused)) for each in stored
    )


def _each_value(arguments: Mapping[str, Any], within: Callable[[Any], Any]) -> dict[str, Any]:
    """Texts of bearable length and numbers as they are, anything else by way of `within`."""
    return {
        name: value[:LONGEST_ARGUMENT]
        if isinstance(value, str)
        else value
        if isinstance(value, int)
        else within(value)
        for name, value in arguments.items()
    }


def _refused(value: object) -> None:
    raise TypeError(f"a value of an action within another: {type(value).__name__}")
