"""Webhooks of providers: stored first, answered at once, and applied by a worker.

An event moves a charge only forward, and only one of the account that received it. An event that
contradicts our records moves nothing and is left to operators.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from django.conf import settings
from django.db import transaction

from payments import ids
from payments.db.writes import insert_if_absent
from payments.domain.routing.provider_accounts import connected
from payments.models import ProviderAccount, ProviderEvent, ProviderMessage
from payments.models.provider_message import TEXT_MAX_LENGTH, WHY_MAX_LENGTH
from payments.providers.base import BankAccount, CardFacts, Outcome, WebhookEvent
from payments.providers.disputes import Disputed, DisputeNews
from payments.providers.registry import CONNECTORS
from payments.sensitive_data.redaction import redact, shortened
from payments.webhooks.wake_up import BackgroundCall, TaskSender

logger = logging.getLogger("kaha.provider_events")

OUTCOMES: dict[str, type[Outcome]] = {kind.__name__: kind for kind in get_args(Outcome)}
# The members of outcomes that have members of their own.
NESTED = {"card": CardFacts, "bank_account": BankAccount}

wake_worker = BackgroundCall(TaskSender(settings.CELERY_BROKER_URL, "apply_provider_events")).wake_worker


class NoSuchAccount(Exception):
    """The address belongs to no account."""


def take(account_id: str, headers: Mapping[str, str], body: bytes) -> str:
    """Store a webhook for the account with this public ID; return the answer that its provider expects.

    A repeated webhook is stored once. A disabled account still receives webhooks about its payments. Raises
    NoSuchAccount, BadSignature, and VaultUnavailable where the signature cannot be checked at the moment.
    """
    account = _account(account_id)
    connector = CONNECTORS[account.provider]
    signed_by = {name: headers[name] for name in connector.webhook_headers if name in headers}
    try:
        events, fault = connected(account).read_webhook(signed_by, body), ""
    except ValueError as error:
        events, fault = [], f"It cannot be read: {redact(str(error))}"
    _keep(account, body, events, fault)
    return connector.webhook_answer


def written_outcome(outcome: Outcome | Disputed | DisputeNews) -> str:
    """Return the members of an outcome or a dispute as JSON, for `read_outcome` and `disputed_from`."""
    return json.dumps(asdict(outcome), default=str)


def read_outcome(name: str, members: str) -> Outcome:
    """Return the outcome of this name from the text that `written_outcome` made."""
    values = json.loads(members)
    nested = {name: made(**values[name]) for name, made in NESTED.items() if values.get(name)}
    return OUTCOMES[name](**values | nested)


def _account(account_id: str) -> ProviderAccount:
    uuid = ids.parse_id(ProviderAccount.PREFIX, account_id)
    account = ProviderAccount.objects.filter(id=uuid, provider__in=list(CONNECTORS)).first() if uuid else None
    if account is None:
        raise NoSuchAccount
    return account


@transaction.atomic
def _keep(account: ProviderAccount, body: bytes, events: list[WebhookEvent], fault: str) -> None:
    whose = {"merchant_id": account.merchant_id, "account": account}
    message = ProviderMessage(**whose, body=body, digest=hashlib.sha256(body).digest())
    if not insert_if_absent(message):
        return
    for event in events:
        insert_if_absent(event_row(event, message=message, **whose))
    if fault:
        why, state = shortened(fault.replace("\x00", ""), WHY_MAX_LENGTH), ProviderEvent.State.NEEDS_ATTENTION
        insert_if_absent(ProviderEvent(message=message, **whose, state=state, why=why, due_at=None))
    transaction.on_commit(wake_worker, robust=True)


def event_row(event: WebhookEvent, **source: Any) -> ProviderEvent:
    """Return the row of an event that came by this `source`, unsaved."""
    news = event.dispute or event.outcome
    return ProviderEvent(
        **source,
        key=_clean(event.key),
        reference=_clean(event.reference),
        provider_ref=_clean(event.provider_ref),
        payment=_clean(event.payment),
        outcome=type(news).__name__ if news else "",
        outcome_json=written_outcome(news) if news else "",
        amount=event.amount,
        currency=_clean(event.currency)[:3],
    )


def _clean(text: str) -> str:
    """Return `text` without NUL and cut to the column's length."""
    return text.replace("\x00", "")[:TEXT_MAX_LENGTH]
