"""The fees that a merchant pays for captured charges: integers only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from payments import sourcetypes
from payments.models import AMOUNT_MAX

BASIS_POINTS = 10_000
# Beside the source types, what a merchant may pay a fee for: a dispute whose money the payer's bank takes.
DISPUTE = "dispute"
NAMES = (*sourcetypes.NAMES, DISPUTE)


class BadRate(ValueError):
    """A rate that is not possible; the message is for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the amount in basis points (350 is 3.5 %), and a fixed amount in the currency's smallest unit.

    Raises BadRate for a value that is not a whole number or is out of bounds.
    """

    basis_points: int = 0
    fixed: int = 0

    def __post_init__(self) -> None:
        _require_within("basis points", self.basis_points, BASIS_POINTS)
        _require_within("fixed amount", self.fixed, AMOUNT_MAX)


def rate_of(rates: Mapping[str, Any], source_type: str, currency: str) -> Rate:
    """Return the rate in a merchant's `rates`, `{type: {currency: {basis_points, fixed}}}`, or one of nothing.

    Only `payments.domain.merchants.terms` writes them, and the database refuses a malformed rate.
    """
    found = rates.get(source_type, {}).get(currency)
    return Rate(found["basis_points"], found["fixed"]) if found else Rate()


def fee_of(amount: int, rate: Rate) -> int:
    """Return the fee for a captured `amount`: rounded half up to the smallest unit, never more than the amount."""
    share = (amount * rate.basis_points + BASIS_POINTS // 2) // BASIS_POINTS
    return min(amount, share + rate.fixed)


def _require_within(name: str, value: object, most: int) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise BadRate(f"The {name} must be a whole number from 0 to {most}.")
