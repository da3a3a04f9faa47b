"""Changes of a query that a person types: a term is put in, replaced or taken out, the rest stays as it is typed."""

from engine.collection.search_query import OR, Field, Term, parse_query


def with_term(text: str, field: Field, term: str) -> str:
    """The query with its terms of a field replaced by one, or taken out for ""; negated terms stay.

    Raises:
        QueryError: the query is not understood.
    """
    kept = text
    for each in reversed(parse_query(text, None)):
        if each.field is field and not each.is_negated:
            kept = _without(kept, each)
    return f"{kept} {term}".strip()


def without_term(text: str, word: str) -> str:
    """The query without a term that says the same as this one.

    Raises:
        QueryError: the query is not understood.
    """
    (unwanted,) = parse_query(word, None)
    kept = text
    meant = unwanted.typed_field, unwanted.text, unwanted.is_negated
    for each in reversed(parse_query(text, None)):
        if (each.typed_field, each.text, each.is_negated) == meant:
            kept = _without(kept, each)
    return kept


def _without(text: str, term: Term) -> str:
    """A query without a term, and without the OR that tied it to another one."""
    before, after = text[: term.start].rstrip(), text[term.end :].lstrip()
    if term.is_alternative:
        before = before.removesuffix(OR).rstrip()
    elif after.split(maxsplit=1)[:1] == [OR]:
        after = after.removeprefix(OR).lstrip()
    return f"{before} {after}".strip()


def quoted(value: str) -> str:
    """A value as it is typed behind a colon: in quotes where it has blanks."""
    bare = value.replace('"', " ").strip()
    return f'"{bare}"' if not bare or any(map(str.isspace, bare)) else bare
