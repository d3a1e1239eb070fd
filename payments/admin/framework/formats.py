"""Formats and columns of the admin: money, moments, public IDs, links, JSON."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import models
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from payments.admin.shown_times import NO_BREAK, NOTHING, moment_cell, moment_cells, moment_in_list, moment_text
from payments.ids import prefix_of, public_id
from payments.json_codecs.verbatim_json import dumps_indented
from payments.ledger.fees import Rate
from payments.models import Charge, Event, Payout, Source
from payments.models.charging.shown_states import DISPUTED, state_of
from payments.models.charging.source import brand_name
from payments.money import major_units, shown_amount
from payments.providers.registry import CONNECTORS
from payments.providers.settlement_reports import NO_CURRENCY
from payments.sourcetypes import shown as shown_type

SHOWN_EVENTS = 100
# What the name of a time ends in.
END_OF_TIME = re.compile("_(?:at|until|since)$")
# What an unknown outcome is to a merchant.
LOOKED_UP = ("warn", _("being looked up with the bank"))
Column = Callable[[Any, Any], Any]
Cells = Mapping[str, Callable[[Any], object]]


def days_text(count: int) -> str:
    """Return a number of days in words: `1 day`, `2 days`."""
    return ngettext("{count} day", "{count} days", count).format(count=f"{count:,}")


def money(amount: int | None, currency: str) -> str:
    """Return `amount`, in the smallest unit of `currency`, as people write it."""
    if amount is None or currency == NO_CURRENCY:
        return NOTHING
    return shown_amount(amount, currency)


def shown_rate(rate: Rate, currency: str) -> str:
    """Return `rate` as a percentage and a fixed amount."""
    return f"{Decimal(rate.basis_points) / 100:.2f} % + {money(rate.fixed, currency)}".replace(" ", NO_BREAK)


def pretty_json(value: Any) -> SafeString | str:
    """Return `value` as indented JSON."""
    if value in (None, {}):
        return NOTHING
    return format_html("<pre>{}</pre>", dumps_indented(value))


def link(model: type[models.Model], pk: UUID | int | str | None, text: object) -> SafeString | str:
    """Return a link with `text` to the page of one row of `model`; the text alone where the site has no such page."""
    return NOTHING if pk is None else _linked(model, "change", [pk], "", text)


def _linked(model: type[models.Model], page: str, args: list[Any], query: str, text: object) -> SafeString:
    try:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)
    except NoReverseMatch:
        return format_html("{}", text)
    return format_html('<a href="{}{}">{}</a>', address, query, text)


def copyable(text: str) -> SafeString:
    """Return `text` with a button that copies it."""
    return format_html('<span class="copyable" data-copy="{0}">{0}</span>', text)


def search_link(model: type[models.Model], term: str, text: str) -> SafeString:
    """Return a link to a search for `term` among the rows of `model`; as `link` does, the text alone."""
    return _linked(model, "changelist", [], f"?q={term}", text)


def lines(items: Iterable[object]) -> SafeString | str:
    """Return `items` on a line each."""
    joined = format_html_join(SafeString("<br>"), "{}", ((item,) for item in items))
    return format_html("<div>{}</div>", joined) if joined else NOTHING


def two_lines(first: object, second: object) -> SafeString:
    """Return a fact of two lines, the second in small letters."""
    below = format_html('<span class="second">{}</span>', second) if second else ""
    return format_html('<span class="first">{}</span>{}', first, below)


def beside(first: object, second: object) -> SafeString:
    """Return a cell with `first`, and what goes with it in small letters."""
    return format_html('{} <span class="second">{}</span>', first, second) if second else format_html("{}", first)


def chip(state: Any, mark: str = "") -> SafeString:
    """Return `state` as a chip in the colour of `mark`; without one, the state has a colour of its own."""
    return format_html('<span class="chip chip-{}">{}</span>', mark or state, gettext(state))


def chips(charge: Charge) -> SafeString:
    """Return the state of a charge, and what else is notable, as chips; `is_looked_up` is an attribute of some."""
    state = state_of(charge)
    marks = [(state.mark, state.label)]
    if getattr(charge, "is_looked_up", False):
        marks = [mark for mark in marks if charge.status != Charge.Status.PENDING] + [LOOKED_UP]
    elif charge.operation:
        marks.append(("warn", gettext("{operation} under way").format(operation=gettext(charge.operation))))
    if charge.reversed_late:
        marks.append(("bad", _("reversed late")))
    if charge.disputed:
        marks.append((DISPUTED.mark, DISPUTED.label))
    shown = format_html_join(" ", '<span class="chip chip-{}">{}</span>', marks)
    return format_html('<span class="chips">{}</span>', shown)


def source_label(source: Source) -> str:
    """Return a source as a payer would call it: `Visa 4242`, `BPI 6789` or `GCash`."""
    card = getattr(source, "card", None)
    name = brand_name(card.brand) if card else shown_type(source.type).label
    number = card.last4 if card else (source.bank_account or {}).get("account_number", "")[-4:]
    return f"{name}{NO_BREAK}{number}" if number else name


def of_payer(charge: Charge, words: str) -> str:
    """Return `from Maria Santos` for the words `from {payer}`; nothing where no name is known."""
    name = charge.source.payer_name
    return words.format(payer=name) if name else ""


def provider_title(provider: str) -> str:
    """Return the provider's title, or its name where no connector is installed."""
    return CONNECTORS[provider].title if provider in CONNECTORS else provider


def short_id(whole: str) -> SafeString:
    """Return an ID such as `ch_0195…3f9a`, with the whole one to read and to copy."""
    prefix, _, digits = whole.rpartition("_")
    text = f"{prefix}_{digits[:4]}…{digits[-4:]}" if prefix else f"{digits[:4]}…{digits[-4:]}"
    return format_html('<span class="id" title="{}" data-copy="{}">{}</span>', whole, whole, text)


def column(
    title: Any,
    value: Callable[[Any], Any],
    *,
    in_list: Callable[[Any], Any] | None = None,
    is_number: bool = False,
    order: str | None = None,
    cells: Cells | None = None,
) -> Column:
    """Return a column named `title` with the `value` of each row.

    A list shows `in_list` instead where that is given, aligns numbers to the right, and may be sorted by the field
    `order`. A file has the `cells`, by their heads, or else the text of the value.
    """

    @admin.display(description=title, ordering=order)
    def shown(_: Any, row: Any) -> Any:
        return value(row)

    vars(shown).update(in_list=in_list, is_number=is_number, cells=cells)
    return shown


@cache
def listed(page: admin.ModelAdmin, name: str) -> Any:
    """Return the column `name` of `page` as a list shows it: the name itself, or a function of the row."""
    shown: Any = getattr(page, name, None)
    value, is_number = getattr(shown, "in_list", None), getattr(shown, "is_number", False)
    if value is None and not is_number:
        return name

    def cell(row: Any) -> Any:
        return value(row) if value else shown(row)

    # Django makes the classes of the column's cells of its name.
    cell.__name__ = f"{name} number" if is_number else name
    vars(cell).update(vars(shown), column_name=name)
    return cell


def _title(name: str) -> Any:
    return _(capfirst(name.replace("_", " ")))


def id_column(prefix: str) -> Column:
    """Return a column with a row's own public ID."""

    def whole(row: Any) -> str:
        return public_id(prefix, row.pk)

    return column("ID", whole, in_list=lambda row: short_id(whole(row)), cells={"id": whole})


def about_id(posting: Any) -> str:
    """Return the public ID of the charge or the payout of a posting."""
    return public_id("po", posting.payout_id) if posting.payout_id else public_id("ch", posting.charge_id)


def about_link(posting: Any) -> str:
    """Return a link to the charge of a posting, by its payer and order, or to its payout."""
    if posting.payout_id:
        return link(Payout, posting.payout_id, _("Payout"))
    charge = posting.charge
    words = (charge.source.payer_name, charge.description) if charge else ()
    return link(Charge, posting.charge_id, ", ".join(filter(None, words)) or _("Payment"))


def id_link_column(name: str, prefix: str, model: type[models.Model]) -> Column:
    """Return a column that links to the row in the foreign key `name`, with its short public ID; a list has no link."""

    def whole(row: Any) -> str:
        pk = getattr(row, f"{name}_id")
        return public_id(prefix, pk) if pk else ""

    def shown(row: Any) -> str:
        return link(model, getattr(row, f"{name}_id"), short(row)) if whole(row) else NOTHING

    def short(row: Any) -> str:
        return short_id(whole(row)) if whole(row) else NOTHING

    return column(_title(name), shown, in_list=short, cells={name: whole})


def row_link_column(name: str, model: type[models.Model], relation: str = "") -> Column:
    """Return a column that links to the row in the foreign key `name` of a row or its `relation`, with its `str`.

    A list has no link: each of its rows opens its own page.
    """

    def shown(row: Any) -> str:
        owner = _owner(row, relation)
        return link(model, getattr(owner, f"{name}_id"), getattr(owner, name))

    return column(_title(name), shown, in_list=lambda row: getattr(_owner(row, relation), name) or NOTHING)


def moment_column(name: str, title: Any = "", order: str | None = None) -> Column:
    """Return a column with the time in the field `name`. By that of creation, which IDs contain, lists are sorted."""
    title, order = title or _title(name.removesuffix("_at")), "pk" if name == "created_at" else order
    return time_column(title, attrgetter(name), order=order, cells=moment_cells(name))


def time_column(title: Any, moment: Callable[[Any], Any], **more: Any) -> Column:
    """Return a column with the `moment` of a row, in a list to the minute."""
    return column(title, lambda row: moment_cell(moment(row)), in_list=lambda row: moment_in_list(moment(row)), **more)


def money_column(name: str, relation: str = "") -> Column:
    """Return a column with the amount in the field `name`, in the currency of a row or of its `relation`."""

    def currency(row: Any) -> str:
        return str(_owner(row, relation).currency)

    cells = {**amount_cells(name, currency), "currency": currency}
    return column(_title(name), lambda row: money(getattr(row, name), currency(row)), is_number=True, cells=cells)


def amount_cells(name: str, currency: Callable[[Any], str] = attrgetter("currency")) -> Cells:
    """Return the cells of the amount in the field `name`: in the currency's smallest unit, and as a decimal."""

    def decimal(row: Any) -> str | None:
        amount = getattr(row, name)
        return None if amount is None else f"{major_units(amount, currency(row)):f}"

    return {name: attrgetter(name), f"{name}_decimal": decimal}


def events_column(title: Any) -> Column:
    """Return a column named `title` with the newest events of a row."""

    def shown(row: Any) -> str:
        found = Event.objects.filter(object_id=row.pk).defer("payload").order_by("-sequence")[:SHOWN_EVENTS]
        return lines(link(Event, event.id, f"{moment_text(event.created_at)} {event.type}") for event in found)

    return column(title, shown)


def json_column(name: str) -> Column:
    """Return a column with the JSON in the field `name`."""
    return column(_title(name), lambda row: pretty_json(getattr(row, name)))


@cache
def field_columns(model: type[models.Model]) -> Mapping[str, Column]:
    """Return the columns that the fields of `model` make, by name.

    A time `due_at` makes `due`, and JSON `metadata` makes `shown_metadata`. An `amount` beside a currency makes
    `shown_amount`, and a foreign key `route` makes `route_link`. Rows known by their public ID have `public_id`.
    """
    fields = {field.name: field for field in model._meta.concrete_fields}
    columns = {"public_id": id_column(prefix)} if (prefix := prefix_of(model)) else {}
    for name, field in fields.items():
        match field:
            case models.DateTimeField():
                columns[END_OF_TIME.sub("", name)] = moment_column(name)
            case models.JSONField():
                columns[f"shown_{name}"] = json_column(name)
            case models.BigIntegerField() if "currency" in fields:
                columns[f"shown_{name}"] = money_column(name)
            case models.ForeignKey():
                columns[f"{name}_link"] = row_link_column(name, field.related_model)
    # A field is shown as it is under its own name.
    return {name: column for name, column in columns.items() if name not in fields}


def mode_column(relation: str = "") -> Column:
    """Return a column with the mode of a row or of its `relation`."""
    return column(_("Mode"), lambda row: _("live") if _owner(row, relation).livemode else _("test"))


def _owner(row: Any, relation: str) -> Any:
    return getattr(row, relation) if relation else row
