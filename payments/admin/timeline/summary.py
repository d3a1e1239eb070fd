"""What is known of a charge: what was paid and how, the checks, the money, and the provider's references."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from payments.admin.framework.formats import (
    NOTHING,
    copyable,
    link,
    money,
    shown_rate,
    source_label,
    two_lines,
)
from payments.admin.shown_times import day_text, moment_brief
from payments.admin.timeline.moment import Facts
from payments.admin.timeline.records import Records
from payments.ledger.fees import Rate
from payments.models import Card, Charge, Checkout, PageVisit, Payout, PayoutPart, Refund, Settlement, Source

CVC_WORDS: dict[str, str] = {
    Card.CvcChecked.PASS: "matched",
    Card.CvcChecked.FAIL: "did not match",
    Card.CvcChecked.UNAVAILABLE: "not checked by the issuer",
    Card.CvcChecked.UNCHECKED: "not checked",
}
METADATA_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Group:
    """Facts under a title."""

    title: str
    facts: Facts


class Sum(NamedTuple):
    """A line of the money of a charge; the `note` says more of it."""

    title: str
    amount: str
    note: str = ""
    is_total: bool = False


def known_of(groups: Iterable[Group]) -> list[Group]:
    """Return `groups` without facts that are not known."""
    shown = [Group(group.title, known(group.facts)) for group in groups]
    return [group for group in shown if group.facts]


def known(facts: Iterable[tuple[Any, object]]) -> list[tuple[Any, object]]:
    """Return the facts that are known."""
    return [fact for fact in facts if fact[1] not in ("", NOTHING)]


def payment_facts(records: Records) -> Iterator[tuple[Any, object]]:
    """Yield what was paid, how, and what was checked; "" for what is not known."""
    charge = records.charge
    yield _("Order"), charge.description
    if charge.checkout_id:
        yield _("Checkout"), link(Checkout, charge.checkout_id, charge.checkout)
    yield from metadata_facts(charge.metadata)
    yield _("Paid with"), _way(charge.source)
    yield _("Statement"), charge.statement_descriptor
    if card := getattr(charge.source, "card", None):
        response = {name: value for attempt in records.attempts for name, value in (attempt.response or {}).items()}
        yield _("3-D Secure"), capfirst(_(_three_d_secure(records, str(response.get("threeDAuthenticated", "")))))
        address = f"{_('Address')}: {response.get('avsResult') or _('not checked')}"
        yield _("Security code"), two_lines(capfirst(_(CVC_WORDS.get(card.cvc_checked, card.cvc_checked))), address)
    yield _("Why it did not go through"), (charge.failure_data or {}).get("reason") or ""


def _way(source: Source) -> SafeString | str:
    card, shown = getattr(source, "card", None), link(Source, source.pk, source_label(source))
    if card is None:
        account = source.bank_account
        return two_lines(shown, f"{account['account_name']}, {account['bank_code']}") if account else shown
    known_of_card = [part for part in (card.issuing_bank, card.funding, card.country) if part != "unknown"]
    return two_lines(
        shown, ", ".join([*known_of_card, _("until {month}").format(month=f"{card.exp_month:0>2}/{card.exp_year}")])
    )


def metadata_facts(metadata: Mapping[str, Any] | None) -> Facts:
    """Return the first members of a merchant's metadata."""
    return [(str(name), str(value)) for name, value in (metadata or {}).items()][:METADATA_SHOWN]


def sums_of(records: Records) -> Iterator[Sum]:
    """Yield the money of a charge: what was asked for and taken, what went back, and what the merchant gets."""
    charge = records.charge

    def shown(amount: int) -> str:
        return money(amount, charge.currency)

    yield Sum(_("Asked for"), shown(charge.amount))
    if not charge.captured:
        return
    yield Sum(_("Captured"), shown(charge.amount_captured))
    if charge.status == Charge.Status.VOIDED:
        yield Sum(_("Voided"), shown(-charge.amount_captured), _("The fee is given back"))
        return
    if charge.amount_refunded:
        pending = sum(refund.amount for refund in records.refunds if refund.status == Refund.Status.PENDING)
        yield Sum(
            _("Refunded"),
            shown(-charge.amount_refunded),
            _("{amount} on its way").format(amount=shown(pending)) if pending else "",
        )
    if charge.fee:
        rate = shown_rate(Rate(charge.fee_basis_points, charge.fee_fixed), charge.currency)
        yield Sum(_("Fee"), shown(-charge.fee), rate)
    if charge.amount_disputed:
        yield Sum(_("Taken by the payer's bank"), shown(-charge.amount_disputed))
    dispute_fees = sum(dispute.fee for dispute in records.disputes if dispute.withdrawn)
    if dispute_fees:
        yield Sum(_("Fee of the dispute"), shown(-dispute_fees))
    left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed
    yield Sum(
        _("Net to {merchant}").format(merchant=charge.merchant), shown(left - charge.fee - dispute_fees), is_total=True
    )


def settlement_of(records: Records, settled_in: Callable[[Records], Iterator[object]]) -> Iterator[SafeString]:
    """Yield when a hold ends, or when the money settles and settled, with the links that `settled_in` yields."""
    charge = records.charge
    if charge.hold_expires_at and charge.authorized:
        yield format_html(_("Hold ends {}"), moment_brief(charge.hold_expires_at))
    if charge.settle_due_at:
        yield format_html(_("Settles {}"), moment_brief(charge.settle_due_at))
    if charge.settled_at:
        links = format_html_join(", ", "{}", ((one,) for one in settled_in(records)))
        yield format_html(_("Settled {}"), links or moment_brief(charge.settled_at))


def settlements(records: Records) -> Iterator[object]:
    """Yield a link to each settlement of a charge, with its day."""
    batches = {posting.settlement for posting in records.postings if posting.settlement}
    return (link(Settlement, batch.pk, day_text(batch.day)) for batch in batches)


def payouts(records: Records) -> Iterator[object]:
    """Yield a link to each payout that a charge is in."""
    settled = records.charge.postings.filter(settlement__isnull=False).values("settlement_id")
    parts = PayoutPart.objects.filter(pk__in=settled, payout__isnull=False).select_related("payout")
    found = {part.payout for part in parts if part.payout}
    text = _("the payout of {day}")
    links = (link(Payout, row.pk, text.format(day=day_text(row.created_at))) for row in found)
    return (format_html(_("in {}"), each) for each in links)


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


def references(records: Records) -> Iterator[tuple[Any, object]]:
    """Yield the provider's names of the charge's operations, and the references that banks know."""
    for attempt in records.attempts:
        if attempt.provider_ref:
            yield f"{attempt.provider}, {attempt.kind}", copyable(attempt.provider_ref)
        if arn := (attempt.response or {}).get("acquirerReference"):
            yield f"ARN, {attempt.kind}", copyable(str(arn))


def is_pending(charge: Charge) -> bool:
    """Return whether the charge may change soon without anybody's further action here."""
    return charge.status == Charge.Status.PENDING or bool(charge.operation)
