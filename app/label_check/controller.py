"""Label check: search for suspect labels while the collection is idle, and apply decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.actions.row import Section, action
from app.feature import PageFeature
from app.jobs.slot import JobSlot
from app.label_check import wording
from app.label_check.logic import LabelQueue
from app.label_check.suspect_card import KEYS
from app.palette.logic import CreateChoice, PaletteRow, create_with_labels, label_rows
from app.placeholder import PlaceholderTexts
from app.texts import marked, tr
from app.workspace.visits import Describes
from engine.graph.codes import NO_CLASS, UNKNOWN
from engine.project.actions import action as action_of

if TYPE_CHECKING:
    from app.label_check.view import LabelCheckPage
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.project import Change, Label, Project
    from engine.review.label_check import LabelCheck, LabelCheckInput, SuspectLabel

TOPIC = "label check"
AHEAD = 12  # number of suspects that are prefetched
REST_MS = 1_000
"""Idle time before a check starts, so that quick decisions are not slowed down."""


@final
class LabelChecking(PageFeature["LabelCheckPage"]):
    """Open the page, repeat the check after changes while it is visible, and apply decisions."""

    guide_page = "labelling#check-labels"
    page_keys = (KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.queue = LabelQueue()
        self._found: LabelCheck | None = None
        self._labels: dict[int, Label] = {}
        self._is_user_request = False
        self._looking = JobSlot(parent=self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._ask)
        session = self._session
        session.state_changed.connect(self._on_changed)
        session.change_made.connect(self._on_change_made)
        session.failed.connect(self._on_failed_action)
        session.writable_changed.connect(lambda _is_writable, _reason: self._show())
        session.closed.connect(self._stop_looking)
        session.closed.connect(self.close_page)

    @action(
        "check_labels", marked("Check labels"), "check_label", "Ctrl+Shift+R", Section.REVIEW_CHECK
    )
    def open_page(self) -> None:
        """Show the suspect labels."""
        page = self.made_page()
        if self.is_page_shown:
            page.setFocus()
            return
        page.show_empty(wording.searching())
        self._shell.workspace.show_page(page, wording.title_text(0), Describes.LARGE_IMAGE)
        self._ask()

    def titles(self) -> Mapping[str, str]:
        return {
            "check_labels": wording.command_text(len(self.queue) if self._found is not None else 0)
        }

    @property
    def is_looking(self) -> bool:
        """Whether a check is pending or running."""
        return self._is_user_request or self._rest.isActive() or self._looking.is_busy

    def stop(self) -> None:
        self._stop_looking()
        if self.page is not None:
            self.page.stop()

    def make_page(self) -> LabelCheckPage:
        from app.label_check.view import LabelCheckPage

        page = LabelCheckPage(self._thumbnails)
        page.action_requested.connect(self._act)
        page.image_chosen.connect(self._on_image_chosen)
        page.image_requested.connect(self._shell.workspace.show_image)
        return page

    # -- checking

    def _stop_looking(self) -> None:
        self._is_user_request = False
        self._rest.stop()
        self._looking.stop()

    def _on_changed(self, _news: object) -> None:
        if self.is_page_shown:
            self._looking.abandon()
            self._rest.start()
            if self._found is not None:
                self._show()

    def _ask(self) -> None:
        if self._session.info is not None and self.is_page_shown:
            self._is_user_request = True
            self._session.ask(_given, self._on_given, owner=self, topic=TOPIC)

    def _on_given(self, given: LabelCheckInput) -> None:
        self._is_user_request = False
        if not self.is_page_shown or self._rest.isActive():
            return

        from engine.review.label_check import check_labels

        self._looking.start(
            tr("Checking labels"),
            lambda _on_progress, cancel: check_labels(given, cancel),
            self._on_found,
            self._on_failed,
            replaces=True,
        )

    def _on_found(self, found: LabelCheck) -> None:
        if not self.is_page_shown:
            return
        self._found = found
        self.queue.renew(
            each for each in found.suspects if self._label_of(each.image_id) == each.label
        )
        missing = [each.image_id for each in self.queue.open if each.image_id not in self._labels]
        self._session.ask(lambda live: _records(live, missing), self._on_records, owner=self)
        self._show()

    def _on_records(self, labels: Mapping[int, Label]) -> None:
        self._labels.update(labels)
        self._show()

    def _on_failed(self, message: str) -> None:
        self.made_page().show_empty(
            PlaceholderTexts("warning", tr("The labels could not be checked"), message)
        )

    # -- display

    def _show(self) -> None:
        state, info = self._session.state, self._session.info
        if state is None or info is None or self._found is None or not self.is_page_shown:
            return
        page = self.made_page()
        labels = {each.image_id: each.label for each in self.queue.open}
        self.queue.drop({each for each, label in labels.items() if self._label_of(each) != label})
        current = self.queue.current_suspect
        if current is None:
            page.show_empty(
                wording.emptiness_of(self._found, len(self.queue.settled), self._name_of)
            )
        else:
            page.show_queue(self.queue.open, current, state, self._labels, self._name_of)
            page.card.set_writable(info.is_writable)
            page.show_note(wording.judged_text(self._found, self._name_of))
            self._look_at(current.image_id)
        self._shell.workspace.show_page(
            page, wording.title_text(len(self.queue)), Describes.LARGE_IMAGE
        )
        self._shell.needs_changed.emit()

    def _look_at(self, image_id: int) -> None:
        """Show the image in the inspector, whose digits apply, and prefetch the next ones."""
        place = self.queue.place_of(image_id) or 0
        self._session.guesses.want(
            [each.image_id for each in self.queue.open[place : place + AHEAD]]
        )
        self._session.current_card.look_at(image_id)
        self._shell.inspector.show_image(image_id)

    def _name_of(self, class_id: int) -> str:
        if class_id == UNKNOWN:
            return tr("none of the classes")
        graph = self._session.graph
        return graph.shown_name(class_id) if class_id in graph else tr("a removed class")

    def _label_of(self, image_id: int) -> int:
        """Label of an image in the current state; `NO_CLASS` also if it was removed."""
        state = self._session.state
        if state is None or not state.has(image_id):
            return NO_CLASS
        return state.label_of(image_id)

    def _on_image_chosen(self, image_id: int) -> None:
        self.queue.go_to(image_id)
        self._show()

    def leave_page(self) -> None:
        self._stop_looking()
        self.queue.forget()
        self._labels.clear()
        self._found = None
        self._shell.workspace.grid.publish_current()
        self._shell.needs_changed.emit()

    # -- deciding

    def _act(self, name: str) -> None:
        """Perform the action of a key on the selected labels."""
        selected, info = self.made_page().selected, self._session.info
        if info is None or not selected:
            return
        suspects = [found for each in selected if (found := self.queue.of(each)) is not None]
        if name in ("next", "previous"):
            self.queue.step(1 if name == "next" else -1)
            self._show()
        elif name == "later":
            self.queue.put_off([each.image_id for each in suspects])
            self._show()
        elif info.is_writable:
            with self._shell.undisturbed():
                self._decide(name, suspects)
        else:
            self._toast.show_message(tr("This project is open read-only."))

    def _decide(self, name: str, suspects: Sequence[SuspectLabel]) -> None:
        image_ids = [each.image_id for each in suspects]
        match name:
            case "relabel":
                self._relabel({each.image_id: each.proposed for each in suspects})
            case "keep":
                codes = {each.image_id: each.label for each in suspects}
                self._write(codes, lambda project: project.labels.confirm(image_ids))
            case "unknown":
                self._relabel(dict.fromkeys(image_ids, UNKNOWN))
            case "remove":
                self._settle(image_ids, lambda: self._session.unlabel(image_ids))
            case "other":
                self._ask_for_class(suspects)
            case _:
                self._label_as(int(name.removeprefix("digit_")), image_ids)

    def _label_as(self, digit: int, image_ids: Sequence[int]) -> None:
        """Label as the class of a digit in the inspector."""
        current = self.queue.current
        class_ids = () if current is None else self._shell.inspector.top_classes_of(current)
        if digit <= len(class_ids):
            self._relabel(dict.fromkeys(image_ids, class_ids[digit - 1]))
        else:
            self._toast.show_message(
                tr(
                    "No class has the key {1} for this image. Press R to label it as any class.",
                    str(digit),
                )
            )

    def _ask_for_class(self, suspects: Sequence[SuspectLabel]) -> None:
        likely = [each for each in suspects[0].most_likely if each in self._session.graph]
        image_ids = [each.image_id for each in suspects]

        def rows(text: str) -> list[PaletteRow]:
            return label_rows(
                self._session.graph, text, first=likely, is_locked=self._session.marks.is_locked
            )

        self._palette.ask(
            tr("Label as: name, part of a name, or Parent/Name"),
            rows,
            lambda choice: self._on_choice(image_ids, choice),
        )

    def _on_choice(self, image_ids: Sequence[int], choice: object) -> None:
        if isinstance(choice, int):
            self._relabel(dict.fromkeys(image_ids, choice))
        elif isinstance(choice, CreateChoice):
            self._session.act(lambda project: create_with_labels(project, choice, image_ids))
            self.queue.settle(image_ids)
            self._show()

    def _relabel(self, codes: Mapping[int, int]) -> None:
        """Set labels; unchanged ones are confirmed."""
        kept = [image_id for image_id, code in codes.items() if code == self._label_of(image_id)]
        self._write(codes, lambda project: _relabel(project, codes, kept))

    def _write(self, codes: Mapping[int, int], act: Callable[[Project], Change]) -> None:
        self._settle(codes, lambda: self._session.write_labels(codes, act))

    def _settle(self, image_ids: Collection[int], write: Callable[[], object]) -> None:
        """Settle suspects, write the decision, and show the next one."""
        self.queue.settle(list(image_ids))
        write()
        self._show()

    # -- results

    def _on_change_made(self, change: Change) -> None:
        touched = {*change.labelled, *change.confirmed, *change.images_removed}
        for image_id in touched:
            self._labels.pop(image_id, None)
        self._look_up(touched.intersection(self.queue.settled))
        self._on_changed(change)

    def _on_failed_action(self, _message: str) -> None:
        """Check which decisions were not saved."""
        self._look_up(set(self.queue.settled))

    def _look_up(self, image_ids: Collection[int]) -> None:
        """Reopen suspects whose decision was undone or not saved."""
        if image_ids and self.is_page_shown:
            wanted = sorted(image_ids)
            self._session.ask(
                lambda live: _open_labels(live, wanted), self._on_looked_up, owner=self
            )

    def _on_looked_up(self, labels: Mapping[int, int]) -> None:
        undone = [each for each, label in labels.items() if label == self.queue.settled_label(each)]
        if undone:
            self.queue.reopen(undone)
            missing = [each for each in undone if each not in self._labels]
            self._session.ask(lambda live: _records(live, missing), self._on_records, owner=self)
            self._show()


def _given(live: LiveCollection) -> LabelCheckInput:
    from engine.review.label_check import label_check_input

    return label_check_input(live)


def _records(live: LiveCollection, image_ids: Sequence[int]) -> dict[int, Label]:
    found = {each: live.project.labels.of(each) for each in image_ids}
    return {image_id: label for image_id, label in found.items() if label is not None}


def _open_labels(live: LiveCollection, image_ids: Sequence[int]) -> dict[int, int]:
    """Current labels of the given images, without confirmed ones."""
    confirmed = live.project.labels.confirmed()
    records = _records(live, [each for each in image_ids if each not in confirmed])
    return {
        each: UNKNOWN if label.class_id is None else label.class_id
        for each, label in records.items()
    }


def _relabel(project: Project, codes: Mapping[int, int], kept: Sequence[int]) -> Change:
    """Label images in one step; those that keep their label are confirmed."""
    groups: dict[int, list[int]] = {}
    for image_id, code in codes.items():
        if image_id not in kept:
            groups.setdefault(code, []).append(image_id)
    if not groups:
        return project.labels.confirm(kept)
    if len(groups) == 1 and not kept:
        return project.labels.set_groups(groups)
    with project.history.one_step(action_of("labels_corrected", labels=len(codes))) as step:
        project.labels.set_groups(groups)
        if kept:
            project.labels.confirm(kept)
    return step.change
