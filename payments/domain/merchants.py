"""Merchants, their API keys, and the secrets that sign their callbacks."""

import base64
import hashlib
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.core.validators import RegexValidator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Least

from payments import clock
from payments.ids import new_id, parse_id, public_id
from payments.models import ApiKey, Merchant, NotifySecret
from payments.notifications.secrets import place_of
from payments.vault import keys_at_hand, seal, unseal

KEY_RANDOM_BYTES = 24  # 192 bits, where the contract wants 190
NOTIFY_SECRET_RANDOM_BYTES = 32
MODES = {"test": False, "live": True}
KINDS = {"sk": ApiKey.Kind.SECRET, "pk": ApiKey.Kind.PUBLISHABLE}
FULL_KEY = re.compile(r"[sp]k_(?:test|live)_[0-9a-f]{48}")
MASKED_KEY = re.compile(r"(?:(?P<kind>[sp]k)_(?P<mode>test|live)_)?[.…*]*(?P<last4>[0-9a-f]{4})")
NOT_PLAIN = re.compile(r"[^A-Za-z0-9 '#_.\-,]")
check_statement_descriptor = RegexValidator(
    r"\A[A-Za-z0-9 '#_.\-,]{3,100}\Z",
    "The statement descriptor must be 3 to 100 ASCII letters, digits, spaces or any of ' # _ . - ,",
)


class NotOne(LookupError):
    """What was named is no merchant or key, or more than one; the message is for the person who named it."""


class KeyIsOver(Exception):
    """A key that was revoked or has expired, which cannot be rolled."""


@dataclass(frozen=True)
class NewMerchant:
    """A merchant just made, and all that is shown only once.

    `keys` has `sk_test`, `pk_test`, `sk_live`, `pk_live`; `notify_secrets` has `whsec_test` and `whsec_live`.
    """

    merchant: Merchant
    keys: dict[str, str] = field(repr=False)
    notify_secrets: dict[str, str] = field(repr=False)


@keys_at_hand
@transaction.atomic
def create_merchant(title: str, account_name: str = "", statement_descriptor: str = "") -> NewMerchant:
    """Makes a merchant with a key of each kind and a callback secret in both modes.

    The account name is the title where not given, the statement descriptor what is plain of the account name.
    Raises Django's ValidationError where one of them does not do.
    """
    account_name = account_name or title
    merchant = Merchant(
        title=title,
        account_name=account_name,
        statement_descriptor=statement_descriptor or _plain(account_name),
    )
    merchant.full_clean()
    check_statement_descriptor(merchant.statement_descriptor)
    merchant.save(force_insert=True)
    return NewMerchant(
        merchant,
        keys={
            f"{prefix}_{mode}": create_key(merchant, livemode, kind)[1]
            for mode, livemode in MODES.items()
            for prefix, kind in KINDS.items()
        },
        notify_secrets={f"whsec_{mode}": _create_notify_secret(merchant, livemode) for mode, livemode in MODES.items()},
    )


def find_merchant(text: str) -> Merchant:
    """The merchant with this ID (`mer_…`) or this title. Raises NotOne."""
    uuid = parse_id("mer", text)
    found = list(Merchant.objects.filter(Q(id=uuid) if uuid else Q(title=text)).order_by("id"))
    if not found:
        raise NotOne(f"There is no merchant {text!r}.")
    if len(found) > 1:
        names = ", ".join(public_id("mer", merchant.id) for merchant in found)
        raise NotOne(f"More than one merchant is called {text!r}; give one of the IDs: {names}.")
    return found[0]


def create_key(merchant: Merchant, livemode: bool, kind: str, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """A new key (`kind` is one of ApiKey.Kind) and its text: the only time that a secret one is seen."""
    key = ApiKey(merchant=merchant, livemode=livemode, kind=kind, expires_at=expires_at)
    text = f"{key.masked_prefix}{secrets.token_hex(KEY_RANDOM_BYTES)}"
    key.digest = key_digest(text)
    key.last4 = text[-4:]
    key.public_text = text if kind == ApiKey.Kind.PUBLISHABLE else ""
    key.save(force_insert=True)
    return key, text


def key_digest(text: str) -> bytes:
    """What is stored of a key: its SHA-256. No salt or stretching: nobody guesses 192 bits."""
    return hashlib.sha256(text.encode()).digest()


@transaction.atomic
def roll_key(key: ApiKey, overlap: timedelta) -> tuple[ApiKey, str]:
    """A new key of the same merchant, mode and kind, and its text; the old one ends after `overlap` at most.

    Raises KeyIsOver where the old one does not work any more.
    """
    now = clock.now()
    working = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), id=key.id, revoked_at=None)
    # PostgreSQL's LEAST passes over NULL, so a key without an end gets one and an earlier end stays.
    if working.update(expires_at=Least("expires_at", now + overlap)) != 1:
        raise KeyIsOver("This key does not work any more: create a new one instead.")
    return create_key(key.merchant, key.livemode, key.kind)


def revoke_key(key: ApiKey) -> bool:
    """Ends a key at once. False where it had been revoked before, which leaves the time of that."""
    return ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=clock.now()) == 1


def find_key(text: str) -> ApiKey:
    """The key with this ID (`key_…`), whole text, or last four characters, masked or bare. Raises NotOne."""
    found = list(ApiKey.objects.select_related("merchant").filter(_names_key(text)).order_by("id"))
    if not found:
        raise NotOne("There is no such key.")
    if len(found) > 1:
        names = ", ".join(public_id("key", key.id) for key in found)
        raise NotOne(f"More than one key is called {text}; give one of the IDs: {names}.")
    return found[0]


def _names_key(text: str) -> Q:
    uuid = parse_id("key", text)
    if uuid:
        return Q(id=uuid)
    if FULL_KEY.fullmatch(text):
        return Q(digest=key_digest(text))
    masked = MASKED_KEY.fullmatch(text)
    if masked is None:
        # Not repeated: it may be a mistyped secret.
        raise NotOne("A key is named by its ID (key_…), its last four characters, or its whole text.")
    named = Q(last4=masked["last4"])
    return named & Q(kind=KINDS[masked["kind"]], livemode=MODES[masked["mode"]]) if masked["kind"] else named


def reveal_notify_secret(merchant_id: UUID, livemode: bool) -> str:
    """The newest callback secret (`whsec_…`) of a merchant in one mode. Raises NotifySecret.DoesNotExist."""
    return _opened(NotifySecret.objects.filter(merchant_id=merchant_id, livemode=livemode).latest("created_at"))


def valid_notify_secrets(merchant: Merchant, livemode: bool) -> list[str]:
    """The callback secrets of a merchant in one mode that sign now, newest first."""
    return [_opened(secret) for secret in _valid(merchant, livemode).order_by("-created_at")]


@keys_at_hand
@transaction.atomic
def roll_notify_secret(merchant: Merchant, livemode: bool, overlap: timedelta) -> str:
    """A new callback secret (`whsec_…`) of `merchant` in one mode; those before it sign along for `overlap` at most.

    Rolled again within an overlap, an older secret keeps its earlier end, so that no receiver loses the time that it
    was promised; an overlap of nothing ends all of them at once.
    """
    # One after the other, lest two rolls at once leave two secrets without an end.
    Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)
    # PostgreSQL's LEAST passes over NULL, so a secret without an end gets one and an earlier end stays.
    _valid(merchant, livemode).update(expires_at=Least("expires_at", clock.now() + overlap))
    return _create_notify_secret(merchant, livemode)


def _valid(merchant: Merchant, livemode: bool) -> QuerySet[NotifySecret]:
    valid = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    return NotifySecret.objects.filter(valid, merchant=merchant, livemode=livemode)


def _opened(secret: NotifySecret) -> str:
    return unseal(secret.sealed, place_of(secret.merchant_id, secret.id))


def _create_notify_secret(merchant: Merchant, livemode: bool) -> str:
    """A secret in the form of Standard Webhooks, sealed in its row."""
    text = f"whsec_{base64.b64encode(secrets.token_bytes(NOTIFY_SECRET_RANDOM_BYTES)).decode()}"
    secret_id = new_id()
    sealed = seal(text, place_of(merchant.id, secret_id))
    NotifySecret.objects.create(id=secret_id, merchant=merchant, livemode=livemode, sealed=sealed)
    return text


def _plain(name: str) -> str:
    """`name` without accents and without what a statement descriptor may not hold."""
    return NOT_PLAIN.sub("", unicodedata.normalize("NFKD", name)).strip()
