"""Which ways to pay can take a checkout: switched on for the merchant, and with a route for its amount."""

from collections.abc import Sequence

from payments import sourcetypes
from payments.domain.catalogue.error_table import NOT_AVAILABLE, SOURCE_TYPE_UNAVAILABLE
from payments.domain.merchants import terms
from payments.domain.routing import candidates
from payments.domain.routing.candidates import Candidate
from payments.domain.shared.caller import Caller, merchant_of
from payments.domain.shared.errors import invalid
from payments.models import AMOUNT_MAX, Checkout

Mode = Checkout.Mode


def require_types(caller: Caller, types: Sequence[str]) -> None:
    """Raise PaymentError `source_type_unavailable` for the first of `types` that the merchant cannot take."""
    routes = candidates.by_type(caller.merchant_id, caller.livemode, types)
    for number, name in enumerate(types):
        if not (terms.is_enabled(merchant_of(caller).payment_method_settings, name, caller.livemode) and routes[name]):
            message = f"{sourcetypes.BY_NAME[name].label} is not available to this account in this mode."
            raise invalid(SOURCE_TYPE_UNAVAILABLE, f"payment_method_types[{number}]", message)


def require_taken(
    caller: Caller, types: Sequence[str], currency: str, amounts: tuple[int, int], mode: str = Mode.PAYMENT
) -> None:
    """Raise PaymentError `not_available` where no route by one of `types` can take what is ordered, on what it cannot.

    That is an amount from the first to the second of `amounts`, which is held in mode `setup`. In mode `save_card`
    nothing is taken.
    """
    if mode == Mode.SAVE_CARD:
        return
    routes = candidates.by_type(caller.merchant_id, caller.livemode, types).values()
    able = [each for found in routes for each in found if each.capabilities.hold or mode != Mode.SETUP]
    if not able:
        raise invalid(NOT_AVAILABLE, "mode", "No provider of this account holds an amount.")
    if any(each.takes_within(*amounts, currency) for each in able):
        return
    if any(each.takes_within(1, AMOUNT_MAX, currency) for each in able):
        raise invalid(NOT_AVAILABLE, "line_items", "No provider takes this total by these ways to pay.")
    raise invalid(NOT_AVAILABLE, "currency", "No provider takes this currency by these ways to pay.")


def ways_of(checkout: Checkout) -> list[str]:
    """Return the ways to pay of an order that can take it now."""
    merchant, types = checkout.merchant, checkout.order["payment_method_types"]
    routes = candidates.by_type(merchant.id, checkout.livemode, types)
    enabled = [name for name in types if terms.is_enabled(merchant.payment_method_settings, name, checkout.livemode)]
    return [name for name in enabled if any(_takes(each, checkout) for each in routes[name])]


def _takes(candidate: Candidate, checkout: Checkout) -> bool:
    if checkout.mode == Mode.SAVE_CARD:
        return True
    is_able = candidate.capabilities.hold or checkout.mode != Mode.SETUP
    return is_able and candidate.takes(checkout.amount, checkout.currency)
