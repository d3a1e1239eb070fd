"""A merchant's terms: what charges cost it, and which ways to pay it takes. The only place that changes them."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from payments import clock, sourcetypes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.ledger.fees import Rate
from payments.models import Merchant
from payments.money import CURRENCIES


class BadTerms(ValueError):
    """These terms cannot be; the message is for the person who gave them."""


def is_enabled(payment_methods: Mapping[str, Any], source_type: str, livemode: bool) -> bool:
    """Whether a merchant's `payment_method_settings` leave this type on, as they do where they do not name it.

    They are `{type: {enabled, test, live}}`: a mode that is not named is as `enabled` says.
    """
    switches = payment_methods.get(source_type, {})
    return bool(switches.get(_name_of(livemode), switches.get("enabled", True)))


def switches_in(payment_methods: Mapping[str, Any], livemode: bool) -> dict[str, dict[str, bool]]:
    """The `payment_method_settings` as they are in one mode."""
    return {name: {"enabled": is_enabled(payment_methods, name, livemode)} for name in payment_methods}


@transaction.atomic
def set_fee(merchant: Merchant, source_type: str, currency: str, rate: Rate) -> None:
    """Has charges on `source_type` in `currency` cost `rate` from now on; those made before keep theirs.

    Raises BadTerms for an unknown type or currency.
    """
    _require_known(source_type, currency)
    locked = _lock(merchant)
    by_currency = locked.rates.setdefault(source_type, {})
    by_currency[currency] = {"basis_points": rate.basis_points, "fixed": rate.fixed}
    _save(locked, "rates", f"{source_type} in {currency}")


@transaction.atomic
def remove_fee(merchant: Merchant, source_type: str, currency: str) -> None:
    """Has charges on `source_type` in `currency` cost nothing from now on. Raises BadTerms where no fee is set."""
    _require_known(source_type, currency)
    locked = _lock(merchant)
    if locked.rates.get(source_type, {}).pop(currency, None) is None:
        raise BadTerms(f"No fee is set for {source_type} in {currency}.")
    if not locked.rates[source_type]:
        del locked.rates[source_type]
    _save(locked, "rates", f"{source_type} in {currency}, removed")


@transaction.atomic
def set_payment_method(merchant: Merchant, source_type: str, enabled: bool, livemode: bool | None = None) -> None:
    """Switches a source type on or off for new sources of one mode, or of both where none is given.

    Those made before can still be charged. Raises BadTerms.
    """
    _require_known_type(source_type)
    locked, told = _lock(merchant), f"{source_type} {'on' if enabled else 'off'}"
    if livemode is None:
        locked.payment_method_settings[source_type] = {"enabled": enabled}
    else:
        told += f" in {_name_of(livemode)} mode"
        locked.payment_method_settings.setdefault(source_type, {"enabled": True})[_name_of(livemode)] = enabled
    _save(locked, "payment_method_settings", told)


def _name_of(livemode: bool) -> str:
    return "live" if livemode else "test"


def _require_known(source_type: str, currency: str) -> None:
    _require_known_type(source_type)
    if currency not in CURRENCIES:
        raise BadTerms(f"{currency!r} is no ISO 4217 currency code in upper case, such as PHP.")


def _require_known_type(source_type: str) -> None:
    if source_type not in sourcetypes.BY_NAME:
        raise BadTerms(f"{source_type!r} is no source type; there are {', '.join(sourcetypes.NAMES)}.")


def _lock(merchant: Merchant) -> Merchant:
    """The merchant as it is now, so that two changes at once are one after the other."""
    return Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)


def _save(merchant: Merchant, name: str, detail: str) -> None:
    merchant.updated_at = clock.now()
    merchant.save(update_fields=[name, "updated_at"])
    audit_log.record(Action.CHANGED, merchant, fields=[name], detail=detail)
