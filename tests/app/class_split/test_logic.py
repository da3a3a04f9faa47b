"""What goes where when a class is split."""

from app.class_split.view import SplitDraft, first_draft


def test_images_go_to_the_other_side_and_come_back_last() -> None:
    draft = SplitDraft(4, "Apple", (1, 2, 3, 4))
    split = draft.moved({3, 1})
    assert (split.staying, split.leaving) == ((2, 4), (1, 3))
    assert split.moved({1}) == SplitDraft(4, "Apple", (2, 4, 1), (3,))
    assert split.exchanged() == SplitDraft(4, "Apple", (1, 3), (2, 4))


def test_what_a_person_chose_leaves_else_the_smaller_kind() -> None:
    labelled, kinds = (1, 2, 3, 4, 5), ((1, 2, 3), (4, 5))
    assert first_draft(4, "Apple", labelled, (2, 9), kinds).leaving == (2,)
    assert first_draft(4, "Apple", labelled, (), kinds).leaving == (4, 5)
    assert first_draft(4, "Apple", labelled, labelled, kinds).leaving == (4, 5)
    assert first_draft(4, "Apple", labelled, (9,), ()).leaving == ()
