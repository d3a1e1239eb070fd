"""The top of a charge's page: who paid, to whom, for what, the money, the checks and the provider's references."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from payments.admin.framework.formats import NOTHING, copyable, lines, link, money, source_label
from payments.admin.moments import moment_cell
from payments.admin.timeline.moment import Facts
from payments.admin.timeline.records import Records
from payments.models import Card, Charge, Checkout, Merchant, PageVisit, Source
from payments.sourcetypes import CARD

CVC_WORDS: dict[str, str] = {
    Card.CvcChecked.PASS: "matched",
    Card.CvcChecked.FAIL: "did not match",
    Card.CvcChecked.UNAVAILABLE: "not checked by the issuer",
    Card.CvcChecked.UNCHECKED: "not checked",
}
METADATA_SHOWN = 6
MAY_SEE_CONTACT = "payments.view_source"
CONTACT = {"E-mail": "email", "Phone": "phone_number"}
Address = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Facts under a title."""

    title: str
    facts: Facts


# Yields further facts about who paid; other apps add theirs.
PayerFacts = Callable[[HttpRequest, Charge], Iterable[tuple[str, object]]]
_payer_facts: list[PayerFacts] = []


def payer_facts(maker: PayerFacts) -> PayerFacts:
    """Register `maker` for the group about the payer, and return it."""
    _payer_facts.append(maker)
    return maker


def summary_of(request: HttpRequest, records: Records) -> list[Group]:
    """Return the groups of facts at the top of the page; a fact that is not known is left out."""
    charge = records.charge
    groups = [
        Group("Payer", [fact for maker in (_payer, *_payer_facts) for fact in maker(request, charge)]),
        Group("Payment", _payment(charge)),
        Group("Money", list(_money(charge))),
        Group("Checks", list(_checks(records)) if charge.source.type == CARD else []),
        Group("At the provider", list(_references(records))),
    ]
    return known_of(groups)


def known_of(groups: Iterable[Group]) -> list[Group]:
    """Return `groups` without facts that are not known."""
    shown = [Group(group.title, [fact for fact in group.facts if fact[1] not in ("", NOTHING)]) for group in groups]
    return [group for group in shown if group.facts]


def _payer(request: HttpRequest, charge: Charge) -> list[tuple[str, object]]:
    source, card = charge.source, getattr(charge.source, "card", None)
    owner = source.owner or {}
    billing = owner.get("billing") or {}
    facts: list[tuple[str, object]] = [("Name", source.payer_name)]
    if request.user.has_perm(MAY_SEE_CONTACT):
        facts += _contact(billing, owner.get("shipping") or {}, card.address if card else {})
    facts.append(("Paid with", link(Source, source.pk, source_label(source))))
    if card:
        issuer = ", ".join(part for part in (card.issuing_bank, card.funding, card.country) if part != "unknown")
        facts += [("Expires", f"{card.exp_month:0>2}/{card.exp_year}"), ("Issuer", issuer)]
    return facts


def _contact(billing: Address, shipping: Address, of_card: Address) -> Iterator[tuple[str, object]]:
    """Yield how the payer is reached: what was sent as billing, and what differs for shipping."""
    of_card = {name.removeprefix("address_"): value for name, value in of_card.items()}
    for label, name in CONTACT.items():
        yield label, billing.get(name) or ""
    billed = _address(billing) or _address(of_card)
    yield "Address", lines(billed)
    others = [shipping.get(name) for name in ("name", *CONTACT.values()) if shipping.get(name) != billing.get(name)]
    sent_to = _address(shipping)
    yield "Ship to", lines(filter(None, [*others, *(sent_to if sent_to != billed else ())]))


def _address(sent: Address) -> list[str]:
    """Return the lines of an address; of a card's, too, whose members have other names."""
    town = " ".join(filter(None, (sent.get("zip_code") or sent.get("zip"), sent.get("city"))))
    return list(filter(None, (sent.get("line1"), sent.get("line2"), town, sent.get("state"), sent.get("country"))))


def _payment(charge: Charge) -> list[tuple[str, object]]:
    failure = charge.failure_data or {}
    return [
        ("To", link(Merchant, charge.merchant_id, charge.merchant)),
        ("For", charge.description),
        ("On the statement", charge.statement_descriptor),
        ("Checkout", link(Checkout, charge.checkout_id, charge.checkout)),
        *metadata_facts(charge.metadata),
        ("Created", moment_cell(charge.created_at)),
        ("Why it failed", failure.get("reason") or ""),
    ]


def metadata_facts(metadata: Mapping[str, Any] | None) -> Facts:
    """Return the first members of a merchant's metadata."""
    return [(str(name), str(value)) for name, value in (metadata or {}).items()][:METADATA_SHOWN]


def _money(charge: Charge) -> Iterator[tuple[str, object]]:
    yield "Asked for", money(charge.amount, charge.currency)
    if not charge.captured:
        yield "Hold ends", moment_cell(charge.hold_expires_at)
        return
    yield "Captured", money(charge.amount_captured, charge.currency)
    if charge.amount_refunded:
        yield "Refunded", money(-charge.amount_refunded, charge.currency)
    yield "Fee", money(-charge.fee, charge.currency)
    if charge.amount_disputed:
        yield "Taken by the payer's bank", money(-charge.amount_disputed, charge.currency)
    withdrawn = charge.disputes.filter(withdrawn=True) if charge.disputed else ()
    dispute_fees = sum(dispute.fee for dispute in withdrawn)
    if dispute_fees:
        yield "Fee of the dispute", money(-dispute_fees, charge.currency)
    left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed
    yield "Net", money(left - charge.fee - dispute_fees, charge.currency)
    if charge.settled_at:
        yield "Settled", moment_cell(charge.settled_at)
    if charge.settle_due_at:
        yield "Settlement due", moment_cell(charge.settle_due_at)


def _checks(records: Records) -> Iterator[tuple[str, object]]:
    response = {name: value for attempt in records.attempts for name, value in (attempt.response or {}).items()}
    yield "3-D Secure", _three_d_secure(records, str(response.get("threeDAuthenticated", "")))
    checked = records.charge.source.card.cvc_checked
    yield "CVC", CVC_WORDS.get(checked, checked)
    yield "Address", str(response.get("avsResult") or "not checked")


def _three_d_secure(records: Records, authenticated: str) -> str:
    """Return the result of the payer's authentication, as far as the provider or our page knows it."""
    code = (records.charge.failure_data or {}).get("code")
    if code in ("authentication_failed", "authentication_required"):
        return "failed" if code == "authentication_failed" else "asked for by the issuer, not done"
    if authenticated:
        return "passed" if authenticated == "true" else "not passed"
    asked = {visit.page for visit in records.visits}
    if PageVisit.Page.DECIDED in asked and records.charge.status not in (Charge.Status.PENDING, Charge.Status.FAILED):
        return "passed"
    return "payer was asked" if asked else "not asked for"


def _references(records: Records) -> Iterator[tuple[str, object]]:
    for attempt in records.attempts:
        if attempt.provider_ref:
            yield f"{attempt.provider}, {attempt.kind}", copyable(attempt.provider_ref)
        if arn := (attempt.response or {}).get("acquirerReference"):
            yield f"ARN, {attempt.kind}", copyable(str(arn))


def is_pending(charge: Charge) -> bool:
    """Return whether the charge may change soon without anybody's further action here."""
    return charge.status == Charge.Status.PENDING or bool(charge.operation)
