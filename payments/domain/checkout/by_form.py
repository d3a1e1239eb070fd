"""Links, sessions and requests that a merchant's own people make by a form."""

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import transaction

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.domain.shared.errors import merchant_closed
from payments.domain.shared.idempotency import Replay, Result, StoredAnswer
from payments.models import Merchant

OK = 200
# `create` of links, sessions or requests.
Create = Callable[[Caller, Merchant, dict[str, Any], Callable[[Any], StoredAnswer]], Result[Any]]


def make(create: Create, merchant: Merchant, livemode: bool, order: dict[str, Any], form_id: UUID) -> tuple[str, bool]:
    """Make one of the validated `order` for a person, whose action is recorded; return its ID, and whether it is new.

    A form that is sent twice makes one. Raise PaymentError as `create` does, and for a merchant whose keys do not work.
    """
    if merchant.is_closed:
        raise merchant_closed()
    key = IdempotencyKey(f"form/{form_id.hex}", hashlib.sha256(form_id.bytes).digest(), is_own=True)
    caller = Caller(merchant.id, livemode, request=RequestFacts(idempotency=key), merchant=merchant)
    try:
        idempotency.look_up(caller)
        with transaction.atomic():
            made = create(caller, merchant, order, lambda row: StoredAnswer(OK, str(row).encode())).row
            audit_log.record(Action.ADDED, made)
    except Replay as replay:
        return replay.answer.body.decode(), False
    return str(made), True
