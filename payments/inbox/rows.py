"""The rows that need attention, in all currencies and modes: one query each, by an index of the open rows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from payments import clock
from payments.domain.messages.mail import REFUSES_US
from payments.domain.reconciliation.bank import balances
from payments.domain.reconciliation.bank.balances import Late
from payments.ids import first_id
from payments.models import (
    ApprovalRequest,
    Attempt,
    AuditEntry,
    Charge,
    Checkout,
    DeclineAlert,
    Dispute,
    Merchant,
    MerchantAccess,
    MoneyCheck,
    OwnBankAccount,
    PayerMessage,
    Payout,
    PayoutAccount,
    PayoutFile,
    ProviderEvent,
    ReconciliationItem,
    Refund,
    UnknownOutcome,
    Webhook,
    WebhookEndpoint,
)
from payments.models.merchants.merchant_access import Limit, within
from payments.models.merchants.webhook_endpoint import IS_PAUSED
from payments.overview import dispute_rates
from payments.sweeps.webhook_queues import COUNTED_MAX, RECEIVERS, RECEIVERS_MAX

EXPIRES_SOON = timedelta(hours=48)
GIVEN_UP = ("exhausted", "gone")
# How long a change of money, data or trust is shown to those who did not make it: longer than a weekend.
NOTICE_SHOWN = timedelta(days=4)
# Webhooks that were given up longer ago are history.
GIVEN_UP_SHOWN = timedelta(days=7)
# Payouts that failed longer ago are history: their money is in a later payout.
FAILED_PAYOUT_SHOWN = timedelta(days=7)
# A lost answer about a payout is usually found within an hour.
PAYOUT_USUAL = timedelta(hours=1)
# A mail server that takes a message does so within minutes.
MESSAGE_USUAL = timedelta(hours=1)
# Most providers make a refund within a day.
REFUND_USUAL = timedelta(days=1)
# Most payers pay a request within a week, if they do.
REQUEST_USUAL = timedelta(days=7)
# What is read of a row's charge: mode, currency and order, and the payer's name.
OF_CHARGE = (
    *("charge__livemode", "charge__currency", "charge__description"),
    *("charge__source__owner", "charge__source__card__name"),
)

FAILING = f"""{RECEIVERS}SELECT r.merchant_id, m.title, r.livemode, r.receiver, failing.count, failing.since
FROM (SELECT * FROM receiver LIMIT %(receivers)s) r
JOIN payments_merchant m ON m.id = r.merchant_id
CROSS JOIN LATERAL (
    SELECT count(*) AS count, min(first_try_at) AS since FROM (
        SELECT w.first_try_at FROM payments_webhook w
        WHERE w.merchant_id = r.merchant_id AND w.livemode = r.livemode AND w.receiver = r.receiver
            AND w.due_at IS NOT NULL AND w.failures > 0
        LIMIT %(counted)s
    ) AS some_of_them
) failing
WHERE failing.count > 0 AND NOT {IS_PAUSED}
ORDER BY failing.since
"""  # nosec B608 # made of constants


@dataclass(frozen=True, slots=True)
class FailingReceiver:
    """A receiver of webhooks with some that fail, at most COUNTED_MAX of them counted, and since when."""

    merchant_id: UUID
    merchant: str
    livemode: bool
    receiver: str
    count: int
    since: datetime | None


def expiring_holds(limit: Limit) -> QuerySet[Any]:
    """Return the charges whose hold expires soon, the next one first."""
    rows = Charge.objects.filter(within(limit, "merchant"), hold_expires_at__lte=clock.now() + EXPIRES_SOON)
    return rows.select_related("merchant", "source__card").order_by("hold_expires_at")


def unknown_outcomes(limit: Limit) -> QuerySet[Any]:
    """Return the attempts with an unknown outcome, oldest first; reversals have a list of their own."""
    rows = UnknownOutcome.objects.filter(within(limit, "charge__merchant")).exclude(kind=Attempt.Kind.REVERSE)
    # Not by the ID: its index would lead through all attempts.
    return _naming(rows).order_by("created_at")


def late_payments(limit: Limit) -> QuerySet[Any]:
    """Return the reversals of money that came after its charge had failed, and that has not gone back yet."""
    rows = Attempt.objects.filter(within(limit, "charge__merchant"), kind=Attempt.Kind.REVERSE, due_at__isnull=False)
    return _naming(rows).order_by("created_at")


def slow_refunds(limit: Limit) -> QuerySet[Any]:
    """Return the refunds that are pending for longer than usual, oldest first."""
    before = first_id(clock.now() - REFUND_USUAL)
    rows = Refund.objects.filter(within(limit, "merchant"), status=Refund.Status.PENDING, id__lt=before)
    return _naming(rows, "merchant").order_by("id")


def disputes_to_answer(limit: Limit) -> QuerySet[Any]:
    """Return the disputes that still need a response, the one that is due first at the top."""
    to_answer = [Dispute.Status.WARNING, Dispute.Status.NEEDS_RESPONSE]
    rows = Dispute.objects.filter(within(limit, "merchant"), status__in=to_answer, evidence_due_at__gt=clock.now())
    rows = rows.exclude(response_state__in=[Dispute.ResponseState.PENDING, Dispute.ResponseState.SENT])
    return _naming(rows, "merchant").order_by("evidence_due_at", "id")


def unpaid_requests(limit: Limit) -> QuerySet[Any]:
    """Return the payment requests that are unpaid for long, oldest first."""
    before = first_id(clock.now() - REQUEST_USUAL)
    own = Checkout.objects.requests().filter(within(limit, "merchant"), livemode__in=[True, False], kind="request")
    return own.filter(state=Checkout.State.UNPAID, id__lt=before).select_related("merchant", "request").order_by("id")


def stuck_payouts(limit: Limit) -> QuerySet[Any]:
    """Return the payouts that do not go out, the oldest first.

    A provider did not take them, or nothing is known of them for an hour, or no bank file can name their accounts.
    """
    is_refused, is_unknown = Q(asked_at__isnull=True), Q(asked_at__lte=clock.now() - PAYOUT_USUAL)
    own = Payout.objects.filter(within(limit, "merchant"))
    rows = own.filter(is_refused | is_unknown, due_at__isnull=False).exclude(why="") | own.left_out()
    # Not by the ID: its index would lead through all payouts.
    since = Coalesce("asked_at", "created_at")
    return rows.select_related("merchant", "account").annotate(since=since).order_by("created_at")


def failed_payouts(limit: Limit) -> QuerySet[Any]:
    """Return the payouts that failed or were returned lately, newest first."""
    since = clock.now() - FAILED_PAYOUT_SHOWN
    rows = Payout.objects.filter(within(limit, "merchant"), status=Payout.Status.FAILED, ended_at__gte=since)
    return rows.select_related("merchant", "account").order_by("-ended_at")


def payouts_to_approve(limit: Limit) -> QuerySet[Any]:
    """Return the live payouts whose approval nobody has asked for, oldest first; the others are requests."""
    rows = Payout.objects.filter(
        within(limit, "merchant"), livemode=True, status=Payout.Status.PENDING, approved_at__isnull=True
    )
    asked = ApprovalRequest.objects.proposed().filter(merchant=OuterRef("merchant"), subject_id=OuterRef("id"))
    return rows.filter(~Exists(asked)).select_related("merchant", "account").order_by("id")


def new_payout_accounts(limit: Limit) -> QuerySet[Any]:
    """Return the bank accounts that take effect soon and can still be withdrawn, the next one first."""
    waiting = PayoutAccount.objects.waiting(clock.now())
    return waiting.filter(within(limit, "merchant")).select_related("merchant")


def payouts_for_file(limit: Limit) -> Any:
    """Return the number and sum of the approved payouts that wait for a bank file, by currency."""
    waiting = Payout.objects.for_file() if limit is None else Payout.objects.none()
    sums = waiting.values("currency").order_by("currency")
    return sums.annotate(count=Count("id"), total=Sum("amount"), since=Min("approved_at"))


def files_to_send(limit: Limit) -> QuerySet[Any]:
    """Return the bank files that nobody has sent, oldest first; a file has payouts of all merchants.

    Those that were downloaded are requests, unless nobody asks.
    """
    found = PayoutFile.objects.filter(PayoutFile.OPEN) if limit is None else PayoutFile.objects.none()
    asked = ApprovalRequest.objects.proposed().filter(subject_id=OuterRef("id"))
    return found.filter(Q(downloaded_at=None) | ~Exists(asked)).annotate(amount=F("total")).order_by("created_at")


def failing_receivers(limit: Limit) -> list[FailingReceiver]:
    """Return the receivers of webhooks that fail now, the one that fails for longest first."""
    merchants = None if limit is None else list(limit)
    values = {"merchants": merchants, "receivers": RECEIVERS_MAX, "counted": COUNTED_MAX}
    with connection.cursor() as cursor:
        cursor.execute(FAILING, values)
        return [FailingReceiver(*row) for row in cursor.fetchall()]


def given_up_webhooks(limit: Limit) -> QuerySet[Any]:
    """Return the webhooks that were given up lately, newest first."""
    since = first_id(clock.now() - GIVEN_UP_SHOWN)
    rows = Webhook.objects.filter(within(limit, "merchant"), state__in=GIVEN_UP, id__gte=since)
    return rows.select_related("merchant").order_by("-id")


def late_messages(limit: Limit) -> QuerySet[Any]:
    """Return the messages to payers that are refused to us, or that wait for an hour, oldest first."""
    late = Q(created_at__lt=clock.now() - MESSAGE_USUAL) | Q(why__startswith=REFUSES_US)
    rows = PayerMessage.objects.filter(within(limit, "merchant"), late, due_at__isnull=False)
    return rows.select_related("merchant").order_by("created_at")


def disabled_endpoints(limit: Limit) -> QuerySet[Any]:
    """Return the webhook endpoints that kaha disabled and that nobody has dealt with, newest first."""
    rows = WebhookEndpoint.objects.filter(within(limit, "merchant"), gave_up_at__isnull=False)
    return rows.select_related("merchant").order_by("-gave_up_at")


def open_differences(limit: Limit) -> QuerySet[Any]:
    """Return the open reconciliation items, oldest first."""
    rows = ReconciliationItem.objects.filter(within(limit, "charge__merchant"), state=ReconciliationItem.State.OPEN)
    sums = {"amount": F("line__amount"), "currency": F("line__currency")}
    return _naming(rows).annotate(**sums).order_by("id")


def not_arrived(limit: Limit) -> list[Late]:
    """Return what has not left or reached our bank accounts in its days; of all merchants, so only without `limit`."""
    accounts = OwnBankAccount.objects.order_by("name") if limit is None else ()
    return [each for account in accounts for each in balances.late(account)]


def provider_events(limit: Limit) -> QuerySet[Any]:
    """Return the events of providers that moved nothing and that an operator must look at, oldest first."""
    needing = ProviderEvent.objects.filter(
        within(limit, "account__merchant"), state=ProviderEvent.State.NEEDS_ATTENTION
    )
    return needing.select_related("account__merchant", "message").order_by("id")


def notices(limit: Limit) -> QuerySet[Any]:
    """Return what lately led money, data or trust elsewhere, newest first; of all merchants at once, without limit."""
    rows = AuditEntry.objects.filter(is_notice=True, created_at__gte=clock.now() - NOTICE_SHOWN)
    of_theirs = Q() if limit is None else Q(merchant_id__in=limit)
    title = Merchant.objects.filter(id=OuterRef("merchant_id")).values("title")
    return rows.filter(of_theirs).annotate(merchant_title=Subquery(title)).order_by("-created_at")


def new_approvers(limit: Limit) -> QuerySet[Any]:
    """Return the merchants' people who lately got rights to approve, where another owner was there before."""
    older = MerchantAccess.objects.filter(
        merchant=OuterRef("merchant"), role=MerchantAccess.Role.OWNER, rights_since__lt=OuterRef("rights_since")
    )
    rows = MerchantAccess.objects.filter(within(limit, "merchant"), role__in=MerchantAccess.APPROVING)
    rows = rows.filter(Exists(older), rights_since__gte=clock.now() - NOTICE_SHOWN)
    return rows.select_related("merchant", "user").order_by("-rights_since")


def decline_alerts(limit: Limit) -> QuerySet[Any]:
    """Return the decline alerts that operators are still shown, newest first."""
    return DeclineAlert.objects.recent().filter(within(limit, "merchant"))


def failed_checks(limit: Limit) -> list[MoneyCheck]:
    """Return the newest money check if it failed; it covers all merchants, so only without `limit`."""
    check = MoneyCheck.objects.newest_whole() if limit is None else None
    return [check] if check and check.failures else []


def high_dispute_rates(limit: Limit) -> list[tuple[Merchant, dispute_rates.Month]]:
    """Return the merchants with a high rate of disputes this month, the highest number of disputes first."""
    found = dispute_rates.high_rates(limit)
    merchants = Merchant.objects.in_bulk([merchant for merchant, _ in found])
    return [(merchants[merchant], month) for merchant, month in found]


def _naming(rows: QuerySet[Any], merchant: str = "charge__merchant") -> QuerySet[Any]:
    """Return `rows` with what is read of charge and merchant: all of their columns would cost half as much again."""
    own = [field.name for field in rows.model._meta.concrete_fields]
    return rows.select_related(merchant, "charge__source__card").only(*own, *OF_CHARGE, f"{merchant}__title")
