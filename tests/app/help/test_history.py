"""Back and forward in the guide."""

from app.help.view import GuideSpot, History


def test_back_and_forward() -> None:
    """Scroll positions are restored; a visit clears the forward history."""
    history = History()
    assert History().spot is None
    history.visit(GuideSpot("a"))
    history.leave(120)
    history.visit(GuideSpot("b", "keys"))
    assert history.go(-1) == GuideSpot("a", scrolled=120)
    assert history.go(-1) is None
    assert (history.can_go_back, history.can_go_forward) == (False, True)
    assert history.go(1) == GuideSpot("b", "keys")
    history.go(-1)
    history.visit(GuideSpot("c"))
    assert (history.can_go_back, history.can_go_forward) == (True, False)
    assert history.go(-1) == GuideSpot("a", scrolled=120)
