"""The origins of pages that may use a publishable key from a browser, and show its card fields in frames."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.db import transaction

from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.refusal_texts import said
from payments.domain.merchants.api_keys import FULL_KEY, key_digest
from payments.domain.merchants.key_cache import cached_keys
from payments.ids import public_id
from payments.models import ApiKey

# All of them stand in one header of each frame.
ORIGINS_MAX = 16
LENGTH_MAX = 270
# It repeats nothing, because anything may have been written there.
NO_ORIGIN = "Write each origin as https://shop.example, without a path; a port may follow."
DEFAULT_PORTS = {"https": 443, "http": 80}


class BadOrigins(ValueError):
    """Origins that a key cannot have; the message is for the person who gave them, beside `field`."""

    field = "origins"


def allows_origin(key: ApiKey, origin: str, *, is_strict: bool = False) -> bool:
    """Return whether a page of `origin` may use this publishable key.

    Without a list any may; where it `is_strict`, in test mode only.
    """
    if key.allowed_origins:
        return origin in key.allowed_origins
    return not (is_strict and key.livemode)


def frame_ancestors(text: str) -> list[str]:
    """Return the origins that may show card fields for the key of this `text`, `*` for any.

    It is empty for any other key than a publishable one that works.
    """
    key = cached_keys.find(key_digest(text)) if FULL_KEY.fullmatch(text) else None
    if key is None or key.kind != ApiKey.Kind.PUBLISHABLE or key.merchant.is_closed or not key.works:
        return []
    return key.allowed_origins or ([] if key.livemode else ["*"])


@transaction.atomic
def set_origins(key: ApiKey, origins: Iterable[str]) -> list[str]:
    """Make `origins` all that may use a publishable key, and return them as browsers write them.

    It holds everywhere within a second. In live mode the inbox and the merchant learn of it. Raises BadOrigins.
    """
    if key.kind != ApiKey.Kind.PUBLISHABLE:
        raise BadOrigins("Only a publishable key has origins: the others must not be in a page at all.")
    wanted = list(dict.fromkeys(_origin_of(text, key.livemode) for text in origins))
    if len(wanted) > ORIGINS_MAX:
        raise BadOrigins(
            said("A key has at most {count} origins. Issue another key for the others.", count=ORIGINS_MAX)
        )
    locked = ApiKey.objects.select_for_update(no_key=True).get(id=key.id)
    if locked.allowed_origins == wanted:
        return wanted
    before, locked.allowed_origins = locked.allowed_origins, wanted
    locked.save(update_fields=["allowed_origins"])
    detail = f"origins: {audit_log.change(', '.join(before), ', '.join(wanted))}"
    notice_of = key.merchant_id if key.livemode else None
    audit_log.record(Action.CHANGED, key, fields=["allowed_origins"], detail=detail, notice_of=notice_of)
    if key.livemode:
        name = public_id("key", key.id)
        change = notices.Change("allowed_origins", {name: before}, {name: wanted})
        notices.notify_merchant(key.merchant_id, change, livemode=True)
    return wanted


def _origin_of(text: str, livemode: bool) -> str:
    """Return an origin as a browser sends it (RFC 6454, 6.2). Raises BadOrigins."""
    try:
        parts = urlsplit(text.strip())
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        raise BadOrigins(NO_ORIGIN) from None
    is_bare = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username is not None)
    if parts.scheme not in DEFAULT_PORTS or not is_bare or not _is_host(host):
        raise BadOrigins(NO_ORIGIN)
    if livemode and parts.scheme == "http":
        raise BadOrigins("In live mode an origin begins with https://, so that nobody changes the page on its way.")
    shown = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{shown}" + (f":{port}" if port and port != DEFAULT_PORTS[parts.scheme] else "")
    if len(origin) > LENGTH_MAX:
        raise BadOrigins(NO_ORIGIN)
    return origin


def _is_host(host: str) -> bool:
    """Return whether nothing in `host` could end the header's list, or stand for many hosts."""
    return bool(host) and all(char.isalnum() or char in "-._:" for char in host) and host.isascii()
