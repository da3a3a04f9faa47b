"""Choice of the device, learning from unlabelled images, and recommendations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton

from app.actions.row import Needs, Section, action
from app.computing.logic import (
    RECOMMENDED_ACTIONS,
    CollectionFacts,
    Survey,
    collection_facts,
    switch_collection,
)
from app.computing.wording import chip_tip, device_title, recommended_action
from app.feature import Feature
from app.jobs.slot import JobSlot
from app.texts import marked, plain_tip, tr
from app.theme.icons import icon
from app.wording import sentence
from engine.runtime.devices.facts import AUTO
from engine.texts import translated

if TYPE_CHECKING:
    from app.computing.view import ComputingPanel
    from app.shell import Shell
    from engine.collection.recommendations import Recommendation
    from engine.runtime.providers import DeviceList

_WIDEST = 120
_ICON_SIDE = 14


@final
class DeviceChip(QToolButton):
    """Status bar button with the device; a tooltip with details, a click opens the panel."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "chip")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_chosen(AUTO)

    @property
    def device_name(self) -> str:
        """Device in use; before the first use the chosen one."""
        return self._used or device_title(self._chosen)

    def show_chosen(self, device: str) -> None:
        self._chosen, self._used, self._reason, self._notice = device, "", "", ""
        self._show()

    def show_used(self, name: str, reason: str = "") -> None:
        """Show the device in use; `reason`: why it is not a GPU, "" to keep the previous reason."""
        self._reason = reason or (self._reason if name == self._used else "")
        self._used = name
        self._show()

    def show_notice(self, notice: str) -> None:
        """Show that the device failed, until another one is chosen."""
        self._notice = notice
        self._show()

    def _show(self) -> None:
        name = self.device_name
        self.setIcon(icon("warning", "warning") if self._notice else icon("device"))
        self.setText(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _WIDEST))
        tip = chip_tip(self._chosen, self._used, self._reason, self._notice)
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(tr("Device: {1}", name))
        self.setAccessibleDescription(tip)


FACTS = "collection facts"


@final
class Computing(Feature):
    """Open the panel and apply its settings."""

    guide_page = "gpu"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.panel: ComputingPanel | None = None
        self.looking = JobSlot(self._session.jobs, keeps_finished=False)  # tests the devices
        self.chip = DeviceChip()
        self._embedding = shell.embedding
        self._survey: Survey | None = None
        self._was_alone = True
        self._notice = ""
        self._is_switching = False
        self._recommendations: tuple[Recommendation, ...] = ()  # as shown
        self._use(self._settings.device)
        self._connect()
        shell.status_line.add_at_end(self.chip)
        shell.device_name = lambda: self.chip.device_name
        shell.device_failed.connect(self._on_notice)

    def _connect(self) -> None:
        session, embedding = self._session, self._embedding
        self.chip.clicked.connect(lambda _is_checked=False: self.open_panel())
        self.looking.finished.connect(self._on_looked)
        self.looking.stage_changed.connect(lambda _stage: self._show_survey())
        embedding.device_changed.connect(self.chip.show_used)
        embedding.notice_given.connect(self._on_notice)
        embedding.failed.connect(self._on_failed)
        session.state_changed.connect(lambda _state: self._ask_for_facts())
        session.failed.connect(lambda _message: self._on_refused())
        session.closed.connect(self._show_no_project)

    @action(
        "choose_device",
        marked("Performance…"),
        "device",
        "Ctrl+D",
        Section.MODEL_DEVICE,
        needs=Needs.NOTHING,
    )
    def open_panel(self) -> None:
        """Show the panel; devices are tested when it is first opened."""
        if self.panel is None:
            self.panel = self._make_panel()
        self.panel.show_device(self._settings.device)
        self.panel.show_notice(self._notice)
        self._show_survey()
        if self._session.info is None:
            self._show_no_project()
        self.panel.show_over()
        self.panel.buttons[self._settings.device].setFocus()
        self._ask_for_facts()
        if self._survey is None:
            self.look()

    def _make_panel(self) -> ComputingPanel:
        from app.computing.view import ComputingPanel

        panel = ComputingPanel(self._host)
        self.link_guide_page(panel)
        panel.device_chosen.connect(self.choose)
        panel.look_requested.connect(self.look)
        panel.collection_switched.connect(self.let_collection_teach)
        panel.recommendation_taken.connect(lambda place: self.take(self._recommendations[place]))
        return panel

    def choose(self, device: str) -> None:
        self._settings.device = device
        self._notice = ""
        self._use(device)
        if self.panel is not None:
            self.panel.show_notice("")
        self._show_survey()

    def _use(self, device: str) -> None:
        self.chip.show_chosen(device)
        self._embedding.use_device(device)

    def look(self) -> None:
        """Test the devices in a worker, as a driver may be slow or crash."""
        from engine.runtime.providers import ListDevices

        if not self.looking.is_busy:
            self._was_alone = not self._session.jobs.jobs
            self.looking.start(tr("Testing the devices"), ListDevices())

    def _on_looked(self, devices: DeviceList) -> None:
        self._survey = Survey.of_list(devices, was_alone=self._was_alone)
        if self._settings.device == AUTO and not self._notice:
            self.chip.show_used(self._survey.auto_name, translated(self._survey.auto_reason))

    def _show_survey(self) -> None:
        if self.panel is not None:
            self.panel.show_survey(
                self._survey, error=self.looking.error, is_looking=self.looking.is_busy
            )

    def _on_notice(self, notice: str) -> None:
        """Report a device failure once; chip and panel show it until a job succeeds."""
        if notice == self._notice:
            return
        self._notice = notice
        self.chip.show_notice(notice)
        if self.panel is not None:
            self.panel.show_notice(notice)
        if notice:
            self._toast.report_failure(sentence(notice), **self._way_out())

    def _on_failed(self, message: str) -> None:
        """Offer other devices, as the chosen one may be the cause."""
        if self._settings.device != AUTO:
            self._toast.report_failure(message, **self._way_out())

    def _way_out(self) -> dict[str, Any]:
        return {"action": tr("Devices…"), "on_action": self.open_panel}

    def let_collection_teach(self, is_on: bool) -> None:
        self._is_switching = True
        self._session.act(lambda project: switch_collection(project, is_on=is_on))

    def _on_refused(self) -> None:
        """Reset the switch when the setting could not be changed."""
        if self._is_switching:
            self._ask_for_facts()

    def _ask_for_facts(self) -> None:
        self._is_switching = False
        if self.panel is not None and self.panel.isVisible() and self._session.info is not None:
            self._session.ask(collection_facts, self._on_facts, owner=self.panel, topic=FACTS)

    def _on_facts(self, facts: CollectionFacts) -> None:
        info = self._session.info
        if self.panel is not None and info is not None:
            graph = self._session.graph
            self._recommendations = tuple(
                each
                for each in facts.recommendations
                if all(known in graph for known in each.class_ids)
            )
            self.panel.show_collection(facts, can_switch=info.is_writable)
            self.panel.show_recommendations(
                [
                    (
                        translated(each.text(graph.shown_name)),
                        recommended_action(each, self._shell.rows),
                    )
                    for each in self._recommendations
                ]
            )

    def take(self, recommendation: Recommendation) -> None:
        """Run the actions for a recommendation, or show its classes."""
        assert self.panel is not None, "its button was pressed"
        self.panel.dismiss()
        actions = RECOMMENDED_ACTIONS.get(recommendation.kind, ())
        for name in actions:
            self._shell.trigger(name)
        if not actions:
            self._shell.tree.select_classes(recommendation.class_ids)

    def _show_no_project(self) -> None:
        if self.panel is not None:
            self.panel.show_collection(None, can_switch=False)
