"""API keys, with the rights, networks and end that limit each of them."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Least

from payments import clock, context
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.refusal_texts import said
from payments.domain.merchants.assistants import Rules, asking_account, shown_rules
from payments.domain.merchants.row_lookup import NotOne, exactly_one
from payments.domain.merchants.scopes import RIGHTS
from payments.ids import new_id, parse_id, public_id
from payments.models import ApiKey, Merchant

RANDOM_BYTES = 24  # 192 bits, where the contract wants 190
USE_RECORDED_EVERY = timedelta(minutes=1)
KINDS = {prefix: kind for kind, prefix in ApiKey.PREFIXES.items()}
FULL_KEY = re.compile(r"[spra]k_(?:test|live)_(?:[a-z][a-z0-9]{0,7}_)?[0-9a-f]{48}")
MASKED_KEY = re.compile(r"(?:(?P<kind>[spra]k)_(?P<mode>test|live)_)?[.…*]*+(?P<last4>[0-9a-f]{4})")


class BadKey(ValueError):
    """A key that cannot be created; the message is for the person who asked for it."""


class KeyInactive(Exception):
    """A revoked or expired key, which cannot be rolled."""


@transaction.atomic
def create_key(
    merchant: Merchant,
    livemode: bool,
    kind: str,
    expires_at: datetime | None = None,
    rights: Iterable[str] = (),
    networks: Iterable[str] = (),
    key_id: UUID | None = None,
    name: str = "",
    *,
    origins: Iterable[str] = (),
    rules: Rules | None = None,
    asks_as: User | None = None,
) -> tuple[ApiKey, str]:
    """Create a key of `kind` (ApiKey.Kind); return it and its text, which cannot be shown again unless it is public.

    `rights` are those of a restricted or an assistant's key, `rules` what an assistant may ask for (`assistants`), and
    `asks_as` the account of the one that it succeeds. `networks` (CIDR) are the only ones that it works from, `name` is
    for operators, `origins` are those of a publishable key that it succeeds.
    A given `key_id` makes a repeated call fail. Of a live one the inbox and the merchant learn. Raises BadKey, and
    IntegrityError for an ID that exists.
    """
    key, text = _new_key(merchant, livemode, kind, key_id)
    key.name = name
    actor = context.actor.get()
    key.issued_by_id = actor().operator_id if actor else None
    key.expires_at = expires_at
    key.allowed_origins = list(origins)
    key.rights = _checked_rights(kind, set(rights))
    if rules and kind != ApiKey.Kind.ASSISTANT:
        raise BadKey("Only an assistant's key takes rules.")
    if kind == ApiKey.Kind.ASSISTANT:
        key.rules, key.asks_as = rules or {}, asks_as or asking_account(name)
    try:
        key.allowed_networks = [str(ip_network(network)) for network in networks]
    except ValueError as fault:
        raise BadKey(said("Networks are given as 10.0.0.0/8 or 2001:db8::/32: {fault}.", fault=fault)) from None
    key.save(force_insert=True)
    is_news = livemode and kind != ApiKey.Kind.PUBLISHABLE
    audit_log.record(
        Action.ADDED,
        key,
        detail=", ".join([public_id("mer", merchant.id), *key.rights, *shown_rules(key.rules)]),
        notice_of=merchant.id if is_news else None,
    )
    if is_news:
        notices.notify_merchant(merchant.id, notices.Change("api_keys", after=public_id("key", key.id)), livemode=True)
    return key, text


def create_first_keys(merchant: Merchant, kinds: Iterable[tuple[bool, str]]) -> list[str]:
    """Create a new merchant's keys, each of a mode (whether it is live) and a kind; return their texts in order."""
    made = [_new_key(merchant, livemode, kind) for livemode, kind in kinds]
    keys = ApiKey.objects.bulk_create(key for key, _ in made)
    audit_log.record_all(Action.ADDED, keys, detail=public_id("mer", merchant.id))
    return [text for _, text in made]


def _new_key(merchant: Merchant, livemode: bool, kind: str, key_id: UUID | None = None) -> tuple[ApiKey, str]:
    """Return a key that is not saved yet, and its text."""
    key = ApiKey(id=key_id or new_id(), merchant=merchant, livemode=livemode, kind=kind)
    # A proxy before several installations sees by the cell whose key it is.
    cell = f"{settings.CELL}_" if settings.CELL else ""
    text = f"{key.masked_prefix}{cell}{secrets.token_hex(RANDOM_BYTES)}"
    key.digest = key_digest(text)
    key.last4 = text[-4:]
    key.public_text = text if kind == ApiKey.Kind.PUBLISHABLE else ""
    return key, text


def key_digest(text: str) -> bytes:
    """Return the SHA-256 that is stored of a key. 192 random bits need no salt and no stretching."""
    return hashlib.sha256(text.encode()).digest()


@transaction.atomic
def roll_key(key: ApiKey, overlap: timedelta, key_id: UUID | None = None) -> tuple[ApiKey, str]:
    """Create a key with the name and rights of `key`, which ends after `overlap` at most; return it and its text.

    Raises KeyInactive where the old key opens nothing any more, IntegrityError where the new one's `key_id` exists.
    """
    now = clock.now()
    working = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), id=key.id, revoked_at=None)
    # PostgreSQL's LEAST ignores NULL, so a key without an end gets one and an earlier end stays.
    if working.update(expires_at=Least("expires_at", now + overlap)) != 1:
        raise KeyInactive("This key does not work any more: create a new one instead.")
    # A right that there is no more opens nothing.
    rights = [right for right in key.rights if right in RIGHTS]
    if key.rights and not rights:
        raise KeyInactive("None of this key's rights is there any more: create a new one instead.")
    limits = rights, key.allowed_networks
    kept = {"origins": key.allowed_origins, "rules": key.rules, "asks_as": key.asks_as}
    new, text = create_key(key.merchant, key.livemode, key.kind, None, *limits, key_id, key.name, **kept)
    audit_log.record(Action.ROLLED, key, fields=["expires_at"], detail=f"its successor: {public_id('key', new.id)}")
    return new, text


@transaction.atomic
def revoke_key(key: ApiKey) -> bool:
    """Revoke a key, which stops working everywhere within a second; return False where it was revoked before."""
    if ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=clock.now()) != 1:
        return False
    audit_log.record(Action.REVOKED, key, fields=["revoked_at"])
    return True


def find_key(text: str) -> ApiKey:
    """Return the key with this ID (`key_…`), whole text, or last four characters, masked or bare. Raises NotOne."""
    named = ApiKey.objects.select_related("merchant").filter(_names_key(text))
    return exactly_one(named, "key", "There is no such key.", f"More than one key is called {text}")


def allows_address(key: ApiKey, address: str) -> bool:
    """Return whether `key` may be used from this IP address."""
    if not key.allowed_networks:
        return True
    try:
        found = ip_address(address)
    except ValueError:
        return False
    # An IPv6 socket reports an IPv4 address as a mapped one.
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in ip_network(network) for network in key.allowed_networks)


def record_use(key: ApiKey) -> None:
    """Set `last_used_at` of `key` to now, at most once a minute, without waiting for a locked row."""
    now = clock.now()
    if key.last_used_at and now < key.last_used_at + USE_RECORDED_EVERY:
        return
    # Requests share the cached object, so the others need not try as well.
    key.last_used_at = now
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_RECORDED_EVERY)
    with transaction.atomic():
        free = ApiKey.objects.select_for_update(skip_locked=True, no_key=True).filter(due, id=key.id)
        ApiKey.objects.filter(id__in=free.values("id")).update(last_used_at=now)


def _checked_rights(kind: str, rights: set[str]) -> list[str]:
    if rights and kind not in ApiKey.LIMITED:
        raise BadKey(said("A {kind} key takes no rights: only a restricted one does.", kind=kind))
    if not rights and kind in ApiKey.LIMITED:
        raise BadKey(said("A restricted key needs rights: any of {rights}.", rights=", ".join(RIGHTS)))
    if kind == ApiKey.Kind.ASSISTANT and not all(right.endswith(":read") for right in rights):
        raise BadKey("An assistant's key takes rights to read alone: its rules say what it may ask for.")
    unknown = rights - RIGHTS.keys()
    if unknown:
        raise BadKey(f"There is no right {min(unknown)!r}; there are {', '.join(RIGHTS)}.")
    return sorted(rights)


def _names_key(text: str) -> Q:
    uuid = parse_id("key", text)
    if uuid:
        return Q(id=uuid)
    if FULL_KEY.fullmatch(text):
        return Q(digest=key_digest(text))
    masked = MASKED_KEY.fullmatch(text)
    if masked is None:
        # The message does not repeat the text, which may be a mistyped secret.
        raise NotOne("A key is named by its ID (key_…), its last four characters, or its whole text.")
    named = Q(last4=masked["last4"])
    return named & Q(kind=KINDS[masked["kind"]], livemode=masked["mode"] == "live") if masked["kind"] else named
