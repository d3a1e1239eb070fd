"""What providers tell by webhook: kept first, answered at once, and applied by a worker.

A report moves a charge only forward, and only one of the account that was told of it. Whatever cannot be true of what
we know moves nothing and is left to operators.
"""

import hashlib
import logging
from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from payments import clock, ids
from payments.db.writes import insert_if_absent
from payments.domain.charging import outcome_texts
from payments.domain.routing.provider_accounts import connected
from payments.models import ProviderAccount, ProviderEvent, ProviderMessage
from payments.models.provider_message import TOLD_MAX_LENGTH, WHY_MAX_LENGTH
from payments.providers.base import Report
from payments.providers.registry import CONNECTORS
from payments.redaction import redact
from payments.webhooks.wake_up import Nudger, Waker

logger = logging.getLogger("kaha.provider_events")

TASK = "payments.tasks.apply_provider_events"
KEPT = timedelta(days=90)
PURGE_BATCH = 1000

nudge = Nudger(Waker(settings.CELERY_BROKER_URL, TASK)).nudge


class NoSuchAccount(Exception):
    """An address to which no provider was told to send anything."""


def take(account_id: str, headers: Mapping[str, str], body: bytes) -> str:
    """Keeps a webhook that came for the account of this public ID; returns what its provider wants to be answered.

    One that came before is kept already. An account that is disabled is told of what went by it nevertheless. Raises
    NoSuchAccount, BadSignature, and VaultUnavailable where the signature cannot be checked at the moment.
    """
    account = _account(account_id)
    connector = CONNECTORS[account.provider]
    signed_by = {name: headers[name] for name in connector.webhook_headers if name in headers}
    try:
        reports, fault = connected(account).read_webhook(signed_by, body), ""
    except ValueError as error:
        reports, fault = [], f"It cannot be read: {redact(str(error))}"
    _keep(account, body, reports, fault)
    return connector.webhook_answer


def forget_old(batch: int = PURGE_BATCH) -> int:
    """Deletes the webhooks whose time is over, `batch` rows at a time; returns how many.

    None that waits to be applied, nor for an operator.
    """
    waits = ProviderEvent.objects.filter(Q(due_at__isnull=False) | Q(state=ProviderEvent.State.NEEDS_ATTENTION))
    old = ProviderMessage.objects.filter(received_at__lt=clock.now() - KEPT).exclude(events__in=waits)
    total = 0
    while found := list(old.order_by("received_at").values_list("id", flat=True)[:batch]):
        ProviderMessage.objects.filter(id__in=found).delete()
        total += len(found)
    return total


def _account(account_id: str) -> ProviderAccount:
    uuid = ids.parse_id(ProviderAccount.PREFIX, account_id)
    account = ProviderAccount.objects.filter(id=uuid, provider__in=list(CONNECTORS)).first() if uuid else None
    if account is None:
        raise NoSuchAccount
    return account


@transaction.atomic
def _keep(account: ProviderAccount, body: bytes, reports: list[Report], fault: str) -> None:
    message = ProviderMessage(account=account, body=body, digest=hashlib.sha256(body).digest())
    if not insert_if_absent(message):
        return
    rows = [_row(message, report) for report in reports] or ([_unreadable(message, fault)] if fault else [])
    for row in rows:
        insert_if_absent(row)
    transaction.on_commit(nudge, robust=True)


def _row(message: ProviderMessage, report: Report) -> ProviderEvent:
    return ProviderEvent(
        message=message,
        account=message.account,
        key=_told(report.key),
        reference=_told(report.reference),
        provider_ref=_told(report.provider_ref),
        payment=_told(report.payment),
        outcome=type(report.outcome).__name__ if report.outcome else "",
        told=outcome_texts.written(report.outcome) if report.outcome else "",
        amount=report.amount,
        currency=_told(report.currency)[:3],
    )


def _unreadable(message: ProviderMessage, fault: str) -> ProviderEvent:
    state = ProviderEvent.State.NEEDS_ATTENTION
    return ProviderEvent(
        message=message, account=message.account, state=state, why=_told(fault)[:WHY_MAX_LENGTH], due_at=None
    )


def _told(text: str) -> str:
    """`text` as far as a column takes it, which takes no NUL."""
    return text.replace("\x00", "")[:TOLD_MAX_LENGTH]
