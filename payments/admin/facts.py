"""The fields and the related rows of a page as facts, and the fields that its form changes."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from django.contrib.admin.utils import flatten
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _

Fact = tuple[str, Any]
# An ID is no title and stands in no list: it is below, with a button that copies it.
ID = re.compile(r"(?:[a-z]{2,7}_)?[0-9a-f]{32}")


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
        contents = (_("No"), _("Yes"))[value] if isinstance(value, bool) else field.contents()
        if contents not in ("", field.empty_value_display):
            yield name, (capfirst(_(str(field.field["label"]))), contents)


def shown_rows(formsets: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the stored rows of Django's `formsets` as tables: their cells, without columns that are empty."""
    tables = []
    for formset in formsets:
        stored = (form for form in formset if form.original is not None)
        rows = [(form, dict(fact for fieldset in form for _, fact in _facts(fieldset))) for form in stored]
        names = [*dict.fromkeys(name for _, cells in rows for name in cells)]
        if rows:
            kind = capfirst(formset.opts.verbose_name)
            found = [(_row_link(form, kind), [cells.get(name, "") for name in names]) for form, cells in rows]
            names = [kind, *names]
            tables.append({"title": capfirst(formset.opts.verbose_name_plural), "names": names, "rows": found})
    return tables


def _row_link(form: Any, kind: str) -> Any:
    """Return the name of a related row of a `kind`, as a link where it has a page. An ID is no name."""
    page, row = form.model_admin, form.original
    name = kind if ID.search(str(row)) else row
    if not (page.show_change_link and page.has_registered_model):
        return name
    address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', address, name)


def seen_groups(groups: Iterable[Any], sees: Callable[[str], bool]) -> list[Any]:
    """Return `groups` of fields without those that the person does not see, and without groups of nothing else."""
    left = ((title, more, [name for name in flatten(more["fields"]) if sees(name)]) for title, more in groups)
    return [(title, {**more, "fields": names}) for title, more, names in left if names]


def changed_fields(groups: Iterable[Any], given: Collection[str]) -> list[Any]:
    """Return `groups` of fields without those that are `given`, and without groups of nothing else."""
    return seen_groups(groups, lambda name: name not in given)
