"""The fields of a read-only page as facts."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.utils.text import capfirst

Fact = tuple[str, Any]


def shown_facts(form: Iterable[Any], said: Collection[str], folded: Collection[str]) -> dict[str, Any]:
    """Return the known fields of Django's `form` for the page of a row: the cards, and all fields that they leave out.

    `said` are the names of fields that the page says elsewhere, `folded` the titles of groups that are no cards.
    """
    groups = [(str(fieldset.name or ""), list(_facts(fieldset))) for fieldset in form]
    cards = [
        (title, [fact for name, fact in facts if name not in said]) for title, facts in groups if title not in folded
    ]
    below = [fact for title, facts in groups for name, fact in facts if title in folded or name in said]
    return {"cards": [card for card in cards if card[1]], "all_fields": below}


def _facts(fieldset: Iterable[Any]) -> Iterator[tuple[str, Fact]]:
    """Yield the name of each field that is known, with its label and contents."""
    for field in (field for line in fieldset for field in line):
        name = field.field["name"]
        value = getattr(field.form.instance, name, None)
        contents = ("no", "yes")[value] if isinstance(value, bool) else field.contents()
        if contents not in ("", field.empty_value_display):
            yield name, (capfirst(field.field["label"]), contents)
