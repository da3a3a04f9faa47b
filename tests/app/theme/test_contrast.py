"""Contrast of texts and icons with all backgrounds of the style sheet, light and dark."""

import pytest

from app.controls import ICON_COLOURS
from app.theme.scheme import make_stylesheet
from app.theme.tokens import Scheme, make_tokens
from tests.support.contrast import READABLE, VISIBLE, contrast, declared, over, rules_of, with_words

TOAST = 'QFrame[role="toast"]'
"""Only its child widgets have text, with colours of their own."""
LEAST_RULES = 50
GROUNDS = ("window", "surface", "raised")
TONES = {"": "sunken", "danger": "danger_soft", "warning": "warning_soft", "accent": "accent_soft"}
"""Backgrounds of notices by tone."""


@pytest.mark.parametrize("scheme", list(Scheme))
def test_every_rule_puts_words_on_a_ground_where_they_can_be_read(scheme: Scheme) -> None:
    """Each selector with its states; a transparent one may be on any background."""
    look = make_tokens(scheme)
    rules = rules_of(make_stylesheet(look))
    weak, looked_at = {}, 0
    for selector in with_words(rules):
        if selector == TOAST or not {"color", "background"} & rules[selector].keys():
            continue
        colour, ground = declared(rules, selector, "color"), declared(rules, selector, "background")
        below = ("inverse",) if TOAST in selector else GROUNDS
        grounds = [getattr(look.colours, name) for name in below]
        if colour:
            looked_at += 1
            worst = min(
                contrast(colour, over(ground, each) if ground else each) for each in grounds
            )
            if worst < READABLE:
                weak[selector] = round(worst, 2)
    assert weak == {}
    assert looked_at > LEAST_RULES


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("variant", ICON_COLOURS)
@pytest.mark.parametrize("state", ["", ":hover", ":pressed", ":focus"])
def test_the_icon_of_a_button_can_be_seen(scheme: Scheme, variant: str, state: str) -> None:
    """Icons contrast with the background in each variant and state."""
    look = make_tokens(scheme)
    rules = rules_of(make_stylesheet(look))
    kind = f'QPushButton[variant="{variant}"]' if variant else "QPushButton"
    ground = declared(rules, kind + state, "background")
    icon = getattr(look.colours, ICON_COLOURS[variant])
    for name in GROUNDS:
        below = getattr(look.colours, name)
        assert contrast(icon, over(ground, below) if ground else below) >= VISIBLE


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize("words", ["text", "text_secondary", "danger", "warning"])
def test_words_of_a_notice_can_be_read(scheme: Scheme, tone: str, words: str) -> None:
    """The text on every tone, and each tone's own colour, contrasts."""
    colours = make_tokens(scheme).colours
    if words in ("danger", "warning") and words != tone:
        return
    assert contrast(getattr(colours, words), getattr(colours, TONES[tone])) >= READABLE
