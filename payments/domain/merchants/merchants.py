"""Merchants, and the secrets that sign their webhooks."""

import base64
import secrets
import unicodedata
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.core.validators import RegexValidator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Least
from django.utils.translation import gettext_lazy as _

from payments import clock, names
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.api_keys import create_first_keys
from payments.domain.merchants.row_lookup import exactly_one
from payments.ids import new_id, parse_id
from payments.models import ApiKey, Merchant, WebhookEndpoint, WebhookSecret
from payments.vault import seal, unseal, with_prefetched_keys
from payments.webhooks.signing_secrets import place_of

WEBHOOK_SECRET_RANDOM_BYTES = 32
MODES = {"test": False, "live": True}
# The kinds of a new merchant's keys, by the prefix of their texts.
KINDS = {"sk": ApiKey.Kind.SECRET, "pk": ApiKey.Kind.PUBLISHABLE}
check_statement_descriptor = RegexValidator(
    rf"\A[{names.PLAIN}]{{3,100}}\Z",
    _("The statement descriptor must be 3 to 100 ASCII letters, digits, spaces or any of ' # _ . - ,"),
)


@dataclass(frozen=True)
class NewMerchant:
    """A new merchant, with the secrets that are shown only once.

    `keys` has `sk_test`, `pk_test`, `pk_live` and, if it was asked for, `sk_live`; `webhook_secrets` has `whsec_test`
    and `whsec_live`.
    """

    merchant: Merchant
    keys: dict[str, str] = field(repr=False)
    webhook_secrets: dict[str, str] = field(repr=False)


@with_prefetched_keys
@transaction.atomic
def create_merchant(
    title: str,
    account_name: str = "",
    statement_descriptor: str = "",
    merchant_id: UUID | None = None,
    *,
    with_secret_live_key: bool = True,
) -> NewMerchant:
    """Create a merchant with keys and a webhook secret in both modes; return it with the texts that are shown once.

    The account name defaults to the title, the statement descriptor to the plain characters of the account name. A
    given `merchant_id` makes a repeated call fail. The secret live key, which moves real money, is left out without
    `with_secret_live_key`. Raises Django's ValidationError for a malformed value or an ID that exists.
    """
    account_name = account_name or title
    merchant = Merchant(
        id=merchant_id or new_id(),
        title=title,
        account_name=account_name,
        statement_descriptor=statement_descriptor
        or names.NOT_PLAIN.sub("", unicodedata.normalize("NFKD", account_name)).strip(),
    )
    # PostgreSQL checks the constraints.
    merchant.full_clean(validate_constraints=False)
    check_statement_descriptor(merchant.statement_descriptor)
    merchant.save(force_insert=True)
    audit_log.record(Action.ADDED, merchant)
    kinds = {
        f"{prefix}_{mode}": (livemode, kind)
        for mode, livemode in MODES.items()
        for prefix, kind in KINDS.items()
        if with_secret_live_key or not (livemode and kind == ApiKey.Kind.SECRET)
    }
    keys = dict(zip(kinds, create_first_keys(merchant, kinds.values()), strict=True))
    secrets_shown = {f"whsec_{mode}": create_webhook_secret(merchant, livemode) for mode, livemode in MODES.items()}
    return NewMerchant(merchant, keys, secrets_shown)


def find_merchant(text: str) -> Merchant:
    """Return the merchant with this ID (`mer_…`) or this title. Raises NotOne."""
    uuid = parse_id("mer", text)
    named = Merchant.objects.filter(Q(id=uuid) if uuid else Q(title=text))
    return exactly_one(named, "mer", f"There is no merchant {text!r}.", f"More than one merchant is called {text!r}")


def reveal_webhook_secret(merchant_id: UUID, livemode: bool) -> str:
    """Return a merchant's newest webhook secret (`whsec_…`) of one mode. Raises WebhookSecret.DoesNotExist."""
    own = WebhookSecret.objects.filter(merchant_id=merchant_id, livemode=livemode, endpoint=None)
    return _opened(own.latest("created_at"))


def valid_webhook_secrets(merchant: Merchant, livemode: bool, endpoint: WebhookEndpoint | None = None) -> list[str]:
    """Return a merchant's webhook secrets of one mode, or those of an endpoint, that sign now, newest first."""
    return [_opened(secret) for secret in _valid(merchant, livemode, endpoint).order_by("-created_at")]


@with_prefetched_keys
@transaction.atomic
def roll_webhook_secret(merchant: Merchant, livemode: bool, overlap: timedelta, secret_id: UUID | None = None) -> str:
    """Create a webhook secret (`whsec_…`) of one mode and return it; older ones sign along for `overlap` at most.

    An older secret that has an earlier end keeps it; an overlap of nothing ends all older ones at once. A given
    `secret_id` makes a repeated call fail with IntegrityError.
    """
    # Without this lock, two rolls at the same time would leave two secrets without an end.
    Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)
    # PostgreSQL's LEAST ignores NULL, so a secret without an end gets one and an earlier end stays.
    _valid(merchant, livemode).update(expires_at=Least("expires_at", clock.now() + overlap))
    text = create_webhook_secret(merchant, livemode, secret_id)
    end = f"the older ones sign along until {clock.iso(clock.now() + overlap)} at most"
    audit_log.record(
        Action.ROLLED,
        merchant,
        fields=["webhook_secrets"],
        detail=f"{'live' if livemode else 'test'} mode, {end}",
        notice_of=merchant.id if livemode else None,
    )
    notices.notify_merchant(merchant.id, notices.Change("webhook_secret"), livemode=livemode)
    return text


def create_webhook_secret(
    merchant: Merchant, livemode: bool, secret_id: UUID | None = None, endpoint: WebhookEndpoint | None = None
) -> str:
    """Create a secret in the form of Standard Webhooks, sealed in its row; return its text."""
    text = f"whsec_{base64.b64encode(secrets.token_bytes(WEBHOOK_SECRET_RANDOM_BYTES)).decode()}"
    secret_id = secret_id or new_id()
    sealed = seal(text, place_of(merchant.id, secret_id))
    WebhookSecret.objects.create(id=secret_id, merchant=merchant, livemode=livemode, endpoint=endpoint, sealed=sealed)
    return text


def _valid(merchant: Merchant, livemode: bool, endpoint: WebhookEndpoint | None = None) -> QuerySet[WebhookSecret]:
    valid = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    return WebhookSecret.objects.filter(valid, merchant=merchant, livemode=livemode, endpoint=endpoint)


def _opened(secret: WebhookSecret) -> str:
    return unseal(secret.sealed, place_of(secret.merchant_id, secret.id))
