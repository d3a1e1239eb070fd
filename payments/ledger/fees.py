"""What a merchant pays for a captured charge: integers only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BASIS_POINTS = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the amount in basis points (350 is 3.5 %), and a fixed amount in the currency's smallest unit."""

    basis_points: int = 0
    fixed: int = 0


def rate_of(rates: Mapping[str, Any], source_type: str, currency: str) -> Rate:
    """The rate that a merchant's `rates`, as `{type: {currency: {basis_points, fixed}}}`, name; nothing where none."""
    return Rate(**rates.get(source_type, {}).get(currency, {}))


def fee_of(amount: int, rate: Rate) -> int:
    """The fee of `amount` captured: rounded half up to the smallest unit, and never more than the amount."""
    share = (amount * rate.basis_points + BASIS_POINTS // 2) // BASIS_POINTS
    return min(amount, share + rate.fixed)
