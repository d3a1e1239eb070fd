"""Formats and columns of the admin: money, moments, public IDs, links, JSON."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import models
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments.admin.moments import NO_BREAK, NOTHING, moment_cell
from payments.ids import public_id
from payments.json_codecs.verbatim_json import dumps_indented
from payments.ledger.fees import Rate
from payments.models import Charge, Source
from payments.money import format_amount
from payments.providers.registry import CONNECTORS
from payments.sourcetypes import BY_NAME

Column = Callable[[Any, Any], Any]


def money(amount: int | None, currency: str) -> str:
    """Return `amount`, in the smallest unit of `currency`, as people write it."""
    return NOTHING if amount is None else format_amount(amount, currency).replace(" ", NO_BREAK)


def shown_rate(rate: Rate, currency: str) -> str:
    """Return `rate` as a percentage and a fixed amount."""
    return f"{Decimal(rate.basis_points) / 100:.2f} % + {money(rate.fixed, currency)}".replace(" ", NO_BREAK)


def pretty_json(value: Any) -> SafeString | str:
    """Return `value` as indented JSON."""
    if value is None:
        return NOTHING
    return format_html("<pre>{}</pre>", dumps_indented(value))


def link(model: type[models.Model], pk: UUID | int | str | None, text: object) -> SafeString | str:
    """Return a link with `text` to the page of one row of `model`."""
    if pk is None:
        return NOTHING
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[pk])
    return format_html('<a href="{}">{}</a>', address, text)


def copyable(text: str) -> SafeString:
    """Return `text` with a button that copies it."""
    return format_html('<span class="copyable" data-copy="{0}">{0}</span>', text)


def search_link(model: type[models.Model], term: str, text: str) -> SafeString:
    """Return a link to a search for `term` among the rows of `model`."""
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html('<a href="{}?q={}">{}</a>', address, term, text)


def lines(items: Iterable[object]) -> SafeString | str:
    """Return `items` on a line each."""
    return format_html_join(SafeString("<br>"), "{}", ((item,) for item in items)) or NOTHING


def two_lines(first: object, second: object) -> SafeString:
    """Return a cell of two lines, each cut where the column ends."""
    below = format_html('<span class="second">{}</span>', second) if second else ""
    return format_html('<span class="first">{}</span>{}', first, below)


def chip(state: str, mark: str = "") -> SafeString:
    """Return `state` as a chip in the colour of `mark`; without one, the state has a colour of its own."""
    return format_html('<span class="chip chip-{}">{}</span>', mark or state, state)


def chips(charge: Charge) -> SafeString:
    """Return the state of a charge, and what else is notable, as chips."""
    marks = [_state_mark(charge)]
    if charge.operation:
        marks.append(("warn", f"{charge.operation} under way"))
    if charge.reversed_late:
        marks.append(("bad", "reversed late"))
    shown = format_html_join(" ", '<span class="chip chip-{}">{}</span>', marks)
    return format_html('<span class="chips">{}</span>', shown)


def _state_mark(charge: Charge) -> tuple[str, str]:
    if charge.status == Charge.Status.PENDING:
        return ("warn", "awaiting payer") if charge.action else ("warn", "pending")
    if charge.status == Charge.Status.SUCCEEDED:
        if charge.authorized:
            return "warn", "held"
        return ("good", "partly refunded") if charge.amount_refunded else ("good", "captured")
    return ("bad" if charge.status == Charge.Status.FAILED else "quiet"), str(charge.status)


def source_label(source: Source) -> str:
    """Return a source as a payer would call it: `visa 4242`, or `GCash`."""
    card = getattr(source, "card", None)
    return f"{card.brand}{NO_BREAK}{card.last4}" if card else BY_NAME[source.type].label


def provider_title(provider: str) -> str:
    """Return the provider's title, or its name where no connector is installed."""
    return CONNECTORS[provider].title if provider in CONNECTORS else provider


def column(title: str, value: Callable[[Any], Any]) -> Column:
    """Return a column named `title` with the `value` of each row."""

    @admin.display(description=title)
    def shown(_: Any, row: Any) -> Any:
        return value(row)

    return shown


def _title(name: str) -> str:
    return capfirst(name.replace("_", " "))


def id_column(prefix: str) -> Column:
    """Return a column with a row's own public ID."""
    return column("ID", lambda row: public_id(prefix, row.pk))


def id_link_column(name: str, prefix: str, model: type[models.Model]) -> Column:
    """Return a column that links to the row in the foreign key `name`, with its public ID."""

    def shown(row: Any) -> str:
        pk = getattr(row, f"{name}_id")
        return link(model, pk, public_id(prefix, pk)) if pk else NOTHING

    return column(_title(name), shown)


def row_link_column(name: str, model: type[models.Model], relation: str = "") -> Column:
    """Return a column that links to the row in the foreign key `name` of a row or its `relation`, with its `str`."""

    def shown(row: Any) -> str:
        owner = _owner(row, relation)
        return link(model, getattr(owner, f"{name}_id"), getattr(owner, name))

    return column(_title(name), shown)


def moment_column(name: str) -> Column:
    """Return a column with the time in the field `name`."""
    return column(_title(name.removesuffix("_at")), lambda row: moment_cell(getattr(row, name)))


def money_column(name: str, relation: str = "") -> Column:
    """Return a column with the amount in the field `name`, in the currency of a row or of its `relation`."""
    return column(_title(name), lambda row: money(getattr(row, name), _owner(row, relation).currency))


def json_column(name: str) -> Column:
    """Return a column with the JSON in the field `name`."""
    return column(_title(name), lambda row: pretty_json(getattr(row, name)))


def mode_column(relation: str = "") -> Column:
    """Return a column with the mode of a row or of its `relation`."""
    return column("Mode", lambda row: "live" if _owner(row, relation).livemode else "test")


def _owner(row: Any, relation: str) -> Any:
    return getattr(row, relation) if relation else row
