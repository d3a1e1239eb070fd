"""A merchant's terms: its fees, and the payment methods that it accepts. Only this module changes them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from payments import clock, sourcetypes
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.shared.caller import mode_name
from payments.ledger import fees
from payments.ledger.fees import Rate
from payments.models import Merchant
from payments.money import CURRENCIES

NO_RATE = Rate()


class BadTerms(ValueError):
    """Terms that are not possible; the message is for the person who gave them."""


def is_enabled(payment_methods: Mapping[str, Any], source_type: str, livemode: bool) -> bool:
    """Return whether a merchant's `payment_method_settings` enable this type; a type that they do not name is enabled.

    They are `{type: {enabled, test, live}}`; `enabled` holds for a mode that is not named.
    """
    switches = payment_methods.get(source_type, {})
    return bool(switches.get(mode_name(livemode), switches.get("enabled", True)))


@transaction.atomic
def set_fee(merchant: Merchant, source_type: str, currency: str, rate: Rate) -> None:
    """Set the rate of new charges on `source_type`, or of new disputes, in `currency`; earlier ones keep theirs.

    Raises BadTerms for an unknown type or currency, and for a share of a dispute.
    """
    _require_possible(source_type, currency, rate)
    locked = _lock(merchant)
    before = _by_pair(locked.rates)
    by_currency = locked.rates.setdefault(source_type, {})
    by_currency[currency] = {"basis_points": rate.basis_points, "fixed": rate.fixed}
    _save_rates(locked, before)


@transaction.atomic
def remove_fee(merchant: Merchant, source_type: str, currency: str) -> None:
    """Remove the fee of new charges on `source_type` in `currency`. Raises BadTerms where no fee is set."""
    locked = _lock(merchant)
    before = _by_pair(locked.rates)
    if locked.rates.get(source_type, {}).pop(currency, None) is None:
        raise BadTerms(f"No fee is set for {source_type} in {currency}.")
    if not locked.rates[source_type]:
        del locked.rates[source_type]
    _save_rates(locked, before)


@transaction.atomic
def set_fees(merchant: Merchant, wanted: Mapping[tuple[str, str], Rate]) -> list[tuple[str, str]]:
    """Make `wanted`, by type and currency, all fees of new charges; return those that changed, were added or removed.

    Raises BadTerms as `rates_of_fees`.
    """
    locked = _lock(merchant)
    rates = rates_of_fees(wanted, locked.rates)
    before, locked.rates = _by_pair(locked.rates), rates
    return _save_rates(locked, before)


def rates_of_fees(wanted: Mapping[tuple[str, str], Rate], stored: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return fees by type and currency as a merchant has them.

    Raises BadTerms for a type or a currency that is not in use, but for a fee that is `stored` and stays as it is.
    """
    rates: dict[str, dict[str, Any]] = {}
    for (source_type, currency), rate in wanted.items():
        fee = {"basis_points": rate.basis_points, "fixed": rate.fixed}
        if stored.get(source_type, {}).get(currency) != fee:
            _require_possible(source_type, currency, rate)
        rates.setdefault(source_type, {})[currency] = fee
    return rates


@transaction.atomic
def set_payment_method(merchant: Merchant, source_type: str, enabled: bool, livemode: bool | None = None) -> None:
    """Switch a source type on or off for new sources of one mode, or of both where none is given.

    Earlier sources can still be charged. Raises BadTerms.
    """
    if source_type not in sourcetypes.BY_NAME:
        raise BadTerms(f"{source_type!r} is no source type; there are {', '.join(sourcetypes.NAMES)}.")
    locked, detail = _lock(merchant), f"{source_type} {'on' if enabled else 'off'}"
    if livemode is None:
        locked.payment_method_settings[source_type] = {"enabled": enabled}
    else:
        detail += f" in {mode_name(livemode)} mode"
        locked.payment_method_settings.setdefault(source_type, {"enabled": True})[mode_name(livemode)] = enabled
    _save(locked, "payment_method_settings", detail)


def _by_pair(rates: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    return {(name, currency): rate for name, by_currency in rates.items() for currency, rate in by_currency.items()}


def _require_possible(name: str, currency: str, rate: Rate = NO_RATE) -> None:
    """Raise BadTerms for a fee that there cannot be."""
    if name not in fees.NAMES:
        raise BadTerms(f"{name!r} has no fee; there are {', '.join(fees.NAMES)}.")
    if name == fees.DISPUTE and rate.basis_points:
        raise BadTerms("The fee of a dispute is a fixed amount, not a share.")
    if currency not in CURRENCIES:
        raise BadTerms(f"{currency!r} is no ISO 4217 currency code of today in upper case, such as PHP.")


def _lock(merchant: Merchant) -> Merchant:
    """Return the merchant as it is now, locked so that concurrent changes follow each other."""
    return Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)


def _save_rates(merchant: Merchant, before: Mapping[tuple[str, str], Any]) -> list[tuple[str, str]]:
    """Save the rates, which were `before`; return by type and currency those that changed."""
    after = _by_pair(merchant.rates)
    changed = sorted(pair for pair in {**before, **after} if before.get(pair) != after.get(pair))
    if changed:
        changes = (audit_log.change(_fee_text(before.get(pair)), _fee_text(after.get(pair))) for pair in changed)
        detail = ", ".join(f"{name} in {at}: {each}" for (name, at), each in zip(changed, changes, strict=True))
        _save(merchant, "rates", detail, notice_of=merchant.id)
        values = ({".".join(pair): rates[pair] for pair in changed if pair in rates} for rates in (before, after))
        notices.notify_merchant(merchant.id, notices.Change("rates", *values))
    return changed


def _fee_text(rate: Mapping[str, int] | None) -> str:
    return f"{rate['basis_points']} basis points and {rate['fixed']}" if rate else ""


def _save(merchant: Merchant, name: str, detail: str, notice_of: UUID | None = None) -> None:
    merchant.updated_at = clock.now()
    merchant.save(update_fields=[name, "updated_at"])
    audit_log.record(Action.CHANGED, merchant, fields=[name], detail=detail, notice_of=notice_of)
