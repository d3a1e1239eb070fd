"""The cells of a charge in the CSV file of a list."""

from operator import attrgetter

from payments.admin.framework.formats import Cells, amount_cells
from payments.admin.moments import moment_cells
from payments.ids import public_id
from payments.models import Charge

AMOUNTS = ("amount", "amount_captured", "amount_refunded", "fee")


def _card(charge: Charge, name: str) -> object:
    return getattr(getattr(charge.source, "card", None), name, None)


CHARGE_CELLS: Cells = {
    "id": lambda charge: public_id("ch", charge.pk),
    **moment_cells("created_at"),
    "merchant": lambda charge: public_id("mer", charge.merchant_id),
    "merchant_title": attrgetter("merchant.title"),
    "mode": lambda charge: "live" if charge.livemode else "test",
    "status": attrgetter("status"),
    "held": lambda charge: "yes" if charge.authorized else "no",
    "currency": attrgetter("currency"),
    **{head: cell for name in AMOUNTS for head, cell in amount_cells(name).items()},
    "type": attrgetter("source.type"),
    "card_brand": lambda charge: _card(charge, "brand"),
    "card_last4": lambda charge: _card(charge, "last4"),
    "description": attrgetter("description"),
    "statement_descriptor": attrgetter("statement_descriptor"),
    "failure_code": lambda charge: (charge.failure_data or {}).get("code"),
    **moment_cells("hold_expires_at"),
}
