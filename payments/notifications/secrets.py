"""The secrets that sign a merchant's events, opened only while they are needed."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from payments.models import NotifySecret
from payments.vault import VaultError, unseal

logger = logging.getLogger("kaha.notifications")

Secrets = Mapping[tuple[UUID, bool], list[str]]


def valid_secrets(merchant_ids: Collection[UUID], now: datetime) -> Secrets:
    """The `whsec_…` that are valid at `now`, newest first, by merchant and livemode."""
    found: dict[tuple[UUID, bool], list[str]] = defaultdict(list)
    valid = Q(expires_at=None) | Q(expires_at__gt=now)
    for secret in NotifySecret.objects.filter(valid, merchant_id__in=merchant_ids).order_by("-created_at"):
        text = _opened(secret)
        if text:
            found[secret.merchant_id, secret.livemode].append(text)
    return found


def _opened(secret: NotifySecret) -> str | None:
    # One merchant's damaged secret must not stop what is sent to the others.
    try:
        return unseal(secret.sealed, merchant_id=secret.merchant_id, object_id=secret.id, field="notify_secret")
    except VaultError:
        logger.exception("a secret cannot be opened", extra={"secret": secret.id.hex})
        return None
