"""Fields of images, such as count and sex, set by keys and in the inspector; camera clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, final

from app.actions.row import WRITE, Needs, Section, action
from app.feature import Feature
from app.fields.logic import ClockFacts, FieldOffer, ask_clocks, offers, value_offers
from app.fields.wording import now_text, offer_title
from app.inspector.logic import shared_values
from app.palette.logic import PaletteRow
from app.texts import marked, tr
from app.wording import images, titled_field
from engine.image_fields import COUNT, FieldKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.fields.clock_card import ClockCard
    from app.fields.view import FieldsCard
    from app.shell import Shell
    from engine.field_renaming import Renaming
    from engine.image_fields import ImageField
    from engine.project.clock_corrections import ClockCorrection

ON_CARDS = WRITE | Needs.IMAGES


@final
class Fields(Feature):
    """Palette of fields, and cards that define fields and correct clocks."""

    guide_page: ClassVar[str] = "finding#count-and-fields-of-your-own"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._workspace = shell.workspace
        self.fields_card: FieldsCard | None = None
        self.clock_card: ClockCard | None = None
        shell.inspector.requests.field_set.connect(self._on_field_set)
        shell.inspector.requests.fields_wanted.connect(self.define_fields)
        self._session.closed.connect(self._on_closed)

    @action(
        "set_field",
        marked("Count and fields of the image…"),
        "digit",
        "K",
        Section.REVIEW_FIELDS,
        needs=ON_CARDS,
        on_images=True,
    )
    def ask_field(self) -> None:
        """Ask for a field of the chosen images and its value."""
        state, chosen = (
            self._session.state,
            self._workspace.folds.under(self._workspace.active_images.chosen_ids),
        )
        if state is None or not chosen:
            return
        values = self._values_of(chosen)
        footer = tr("A number is the count · Enter chooses · Esc closes")
        self._ask(
            tr("Count, field or value of {1}", images(len(chosen))),
            lambda text: offers(state.fields, text, values),
            lambda offer: self._on_offer(offer, chosen),
            footer,
            values,
        )

    @action(
        "define_fields",
        marked("Fields of the project…"),
        "settings",
        "",
        Section.REVIEW_FIELDS,
        needs=WRITE,
    )
    def define_fields(self) -> None:
        """Show the card that defines the project's fields."""
        from app.fields.view import FieldsCard

        if self._session.state is None:
            return
        if self.fields_card is None:
            self.fields_card = FieldsCard(self._host)
            self.link_guide_page(self.fields_card)
            self.fields_card.saved.connect(self._define)
        self.fields_card.show_fields(self._session.state.fields)

    @action(
        "correct_clock",
        marked("Correct a camera's clock…"),
        "clock",
        "",
        Section.IMAGES_FILES,
        needs=WRITE,
    )
    def correct_clock(self) -> None:
        """Show the card that corrects the clock of a folder or camera."""
        image_id = self._workspace.active_images.current_id
        self._session.ask(
            lambda live: ask_clocks(live, image_id), self._show_clocks, owner=self, topic="clocks"
        )

    def _show_clocks(self, facts: ClockFacts) -> None:
        from app.fields.clock_card import ClockCard

        if self.clock_card is None:
            self.clock_card = ClockCard(self._host)
            self.link_guide_page(self.clock_card)
            self.clock_card.corrected.connect(self._correct)
        self.clock_card.show_facts(facts)

    def _correct(self, correction: ClockCorrection) -> None:
        self._session.act(lambda project: project.clocks.set(correction))

    def _define(self, fields: tuple[ImageField, ...], renamings: tuple[Renaming, ...]) -> None:
        state = self._session.state
        if state is not None and tuple(state.fields) != fields:
            self._session.act(lambda project: project.fields.define(fields, renamings))

    def _ask(
        self,
        prompt: str,
        offers_for: Callable[[str], Sequence[FieldOffer]],
        on_offer: Callable[[FieldOffer], None],
        footer: str,
        values: Mapping[str, str | None],
    ) -> None:
        def rows_for(text: str) -> Sequence[PaletteRow]:
            return [_row(each, values) for each in offers_for(text)]

        self._palette.ask(prompt, rows_for, on_offer, footer=footer)

    def _on_offer(self, offer: FieldOffer, image_ids: Sequence[int]) -> None:
        field = offer.field
        if field is None:
            self.define_fields()
        elif offer.value is not None:
            self._set(image_ids, field.name, offer.value)
        else:
            values = self._values_of(image_ids)
            is_typed = field == COUNT or field.kind in {FieldKind.NUMBER, FieldKind.TEXT}
            self._ask(
                tr("{1} of {2}", titled_field(field.name), images(len(image_ids))),
                lambda text: value_offers(field, text, values.get(field.name, "")),
                lambda chosen: self._on_offer(chosen, image_ids),
                "" if is_typed else tr("a digit or letters choose"),
                values,
            )

    def _values_of(self, image_ids: Sequence[int]) -> Mapping[str, str | None]:
        state = self._session.state
        return {} if state is None else shared_values(state.field_values, image_ids)

    def _on_field_set(self, image_id: int, name: str, value: str) -> None:
        """Set a field in the inspector: of all selected images if the shown one is among them."""
        chosen = self._workspace.active_images.chosen_ids
        self._set(chosen if image_id in chosen else (image_id,), name, value)

    def _set(self, image_ids: Sequence[int], name: str, value: str) -> None:
        self._workspace.hold()
        self._session.act(lambda project: project.fields.set(image_ids, name, value or None))

    def _on_closed(self) -> None:
        for card in (self.fields_card, self.clock_card):
            if card is not None:
                card.dismiss()


def _row(offer: FieldOffer, values: Mapping[str, str | None]) -> PaletteRow:
    now = "" if offer.field is None else values.get(offer.field.name, "")
    is_question = offer.field is not None and offer.value is None
    subtitle = now_text(now) if is_question or offer.value == "" else ""
    icon = "settings" if offer.field is None else "close" if offer.value == "" else "label"
    return PaletteRow(offer_title(offer), subtitle, str(offer.digit or ""), icon, offer)
