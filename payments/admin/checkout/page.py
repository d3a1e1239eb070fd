"""The page of a checkout: who pays what, the attempts to pay it, and its timeline."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from payments.admin.contacts import MAY_SEE_CONTACT, mail_link, phone_link
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    chips,
    copyable,
    lines,
    link,
    money,
    search_link,
    short_id,
    source_label,
)
from payments.admin.framework.merchant_access import limit_of
from payments.admin.shown_times import moment_brief, moment_cell
from payments.admin.timeline.changes import Request, asked_in, moment_of
from payments.admin.timeline.moment import About, Moment, Moments
from payments.admin.timeline.outside import staff_moments, webhook_moments
from payments.admin.timeline.page import MAY_SEE_PEOPLE, story_of, with_gaps
from payments.admin.timeline.panels import Panel, Row
from payments.admin.timeline.records import EventRecords
from payments.admin.timeline.summary import Group, known_of, metadata_facts
from payments.domain.catalogue.event_types import MARKS, SESSION_CREATED
from payments.domain.checkout.payments import description_of
from payments.ids import parse_id, public_id
from payments.json_codecs.verbatim_json import loads
from payments.models import Charge, Checkout, Event, Merchant, PayerMessage, Webhook
from payments.models.charging.shown_states import OF_CHECKOUTS
from payments.models.checkout.checkout import ATTEMPTS_MAX
from payments.rendering.objects.checkout import payment_url
from payments.sourcetypes import shown

State = Checkout.State
CREATE = "POST /v2/checkout_sessions/"
ADDRESS = ("name", "line1", "line2", "barangay", "city", "state", "postal_code", "country")
LISTS = (Charge, Event, Webhook)


def state_chip(checkout: Checkout) -> object:
    """Return the state of a checkout as a chip."""
    state = OF_CHECKOUTS[checkout.state]
    return chip(str(state.label), state.mark)


def payers(checkout: Checkout, name: str) -> str:
    """Return what the payer gave, or else the order: `name`, `email` or `phone`; "" for nothing."""
    return str(checkout.payer.get(name) or checkout.order.get(f"customer_{name}") or "")


def page_context(request: HttpRequest, checkout: Checkout) -> dict[str, Any]:
    """Return the context of the page, for an operator who may see `checkout`."""
    records = EventRecords(checkout)
    charges = list(checkout.charges.select_related("source__card").order_by("pk"))
    sees_people = request.user.has_perm(MAY_SEE_PEOPLE) and limit_of(request) is None
    moments = [*_changes(records), *_attempts(charges), *webhook_moments(records)]
    # What operators did is nothing for a merchant's own people.
    moments += staff_moments(records, sees_people) if request.user.is_staff else []
    moments.sort(key=lambda moment: (moment.at, moment.kind))
    return {
        "summary": known_of(_summary(request, checkout)),
        "lists": [
            search_link(model, str(checkout), gettext(str(model._meta.verbose_name_plural)))
            for model in _lists(request)
        ],
        "is_pending": checkout.state == State.PAYING,
        "items": list(_items(checkout)),
        "attempts": Panel(_("Attempts to pay"), list(map(_attempt, charges))),
        "story": story_of(moments),
        "name": _("requests, messages, ledger entries"),
        "moments": list(with_gaps(moments)),
        "more": records.more,
        "views": records.views if sees_people else None,
    }


def _lists(request: HttpRequest) -> list[type[Model]]:
    """Return the models of which the user may see lists."""
    return [model for model in LISTS if request.user.has_perm(f"payments.view_{model._meta.model_name}")]


def _summary(request: HttpRequest, checkout: Checkout) -> Iterator[Group]:
    if request.user.has_perm(MAY_SEE_CONTACT):
        yield Group(_("Payer"), list(_payer(checkout)))
    order = checkout.order
    yield Group(
        _("Checkout"),
        [
            ("To", link(Merchant, checkout.merchant_id, checkout.merchant) if request.user.is_staff else ""),
            (_("For"), description_of(checkout)),
            (_("Reference"), checkout.client_reference_id),
            (_("Purpose"), checkout.get_mode_display()),
            (_("Ways to pay"), ", ".join(shown(name).label for name in order.get("payment_method_types") or [])),
            (_("Attempts"), _("{count} of {most}").format(count=checkout.attempts, most=ATTEMPTS_MAX)),
            *metadata_facts(order.get("metadata")),
        ],
    )
    created, ends = moment_cell(checkout.created_at), moment_cell(checkout.expires_at)
    yield Group(_("Times"), [(_("Created"), created), (_("Ends"), ends)])
    if checkout.kind == Checkout.Kind.REQUEST:
        yield Group(_("Invoice"), list(_invoice(checkout)))
    page = payment_url(checkout) if checkout.kind != Checkout.Kind.LINK else ""
    urls = {
        _("Payer's page"): page,
        _("After paying"): order.get("success_url"),
        _("Back"): order.get("cancel_url"),
    }
    # As texts: a merchant's address is nothing that an operator should open by a slip.
    yield Group(_("Pages"), [(title, copyable(url)) for title, url in urls.items() if url])


def _invoice(checkout: Checkout) -> Iterator[tuple[str, object]]:
    request = checkout.request
    taken = {_("e-mail"): request.email_delivered, "SMS": request.sms_delivered}
    yield _("Number"), request.number
    yield (
        _("Sent by"),
        ", ".join(_("e-mail") if way == "email" else "SMS" for way in checkout.order["delivery_methods"]),
    )
    yield _("Taken by"), ", ".join(way for way, is_taken in taken.items() if is_taken) or NOTHING
    yield _("Message"), checkout.order.get("message") or NOTHING
    yield _("Voided because"), request.void_reason
    if request.source_id:
        yield _("Tries to charge the kept card"), request.collect_tries
        yield _("Next try"), moment_cell(request.collect_at)
        yield _("Tries ended because"), request.get_collect_ended_display()
    yield _("What it says"), search_link(PayerMessage, str(checkout), _("messages"))


def _payer(checkout: Checkout) -> Iterator[tuple[str, object]]:
    """Yield who pays, as far as the order or the payer said."""
    yield _("Name"), payers(checkout, "name")
    yield _("E-mail"), mail_link(payers(checkout, "email"))
    yield _("Phone"), phone_link(payers(checkout, "phone"))
    for title, kind in ((_("Billed to"), "billing"), (_("Ship to"), "shipping")):
        given = checkout.payer.get(kind) or {}
        yield title, lines(filter(None, map(given.get, ADDRESS)))
    if checkout.customer_id:
        whole = public_id("cus", checkout.customer_id)
        yield (
            _("Customer"),
            format_html('<a href="{}?q={}">{}</a>', reverse("admin:find"), whole, short_id(whole)),
        )


def _items(checkout: Checkout) -> Iterator[tuple[object, ...]]:
    """Yield name, what is below it, and sum of each item."""
    for item in checkout.order.get("line_items") or []:
        each, number = item["amount"], item["quantity"]
        below = filter(None, (item.get("description"), f"{number:,} × {money(each, checkout.currency)}"))
        yield item["name"], ", ".join(below), money(each * number, checkout.currency)


def _attempt(charge: Charge) -> Row:
    why = (charge.failure_data or {}).get("reason") or ""
    below = format_html("{}{}{}", moment_brief(charge.created_at), why and ". ", why)
    shown = link(Charge, charge.pk, source_label(charge.source))
    return Row(shown, below, chips(charge), money(charge.amount, charge.currency))


def _changes(records: EventRecords) -> Moments:
    """Yield each change of a checkout, and the requests of programs that caused them."""
    for event in records.events:
        asked = asked_in(event)
        if uuid := parse_id("req", asked.get("id") or ""):
            call = CREATE if event.type == SESSION_CREATED else f"{CREATE}{records.row}"
            yield moment_of(Request(uuid, call, event.api_key, asked.get("idempotency_key", "")))
        then = loads(bytes(event.payload).decode())["data"]["object"]
        facts = [
            (_("Event"), link(Event, event.pk, event)),
            (_("Then"), then.get("payment_status", NOTHING)),
        ]
        yield Moment(event.created_at, About.CHANGE, event.type, facts, MARKS.get(event.type, ""))


def _attempts(charges: list[Charge]) -> Moments:
    """Yield each attempt of the payer; the page of its charge has the whole story."""
    for charge in charges:
        facts = [(_("Charge"), link(Charge, charge.pk, charge)), (_("State"), chips(charge))]
        mark = "bad" if charge.status == Charge.Status.FAILED else ""
        is_payers = charge.initiator == Charge.Initiator.CUSTOMER
        what = _("Payer chose {method}") if is_payers else _("Kept {method} was charged")
        yield Moment(
            charge.created_at,
            About.PAYER,
            what.format(method=source_label(charge.source)),
            facts,
            mark,
        )
