"""Columns that several lists have: who paid, what for, and a state as a chip."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import NOTHING, Cells, Column, beside, chip, column
from payments.models import Charge

ENABLED = column(_("State"), lambda row: chip("enabled", "good") if row.enabled else chip("disabled", "quiet"))
UNNAMED = _("No name given")
# What the columns about a row's charge read beside it.
WITH_PAYER = ("charge__merchant", "charge__source__card")
ChargeOf = Callable[[Any], Charge]


def charge_of(row: Any) -> Charge:
    """Return the charge that `row` belongs to."""
    charge: Charge = row.charge
    return charge


def payer_column(charge: ChargeOf = charge_of) -> Column:
    """Return a column with the name of the payer of the `charge` of a row."""
    return column(_("Payer"), lambda row: charge(row).source.payer_name or UNNAMED)


def what_for_column(charge: ChargeOf = charge_of) -> Column:
    """Return a column with what the `charge` of a row is for, and at which merchant."""
    return column(_("For"), lambda row: beside(charge(row).description or NOTHING, charge(row).merchant))


def order_column(charge: ChargeOf = charge_of) -> Column:
    """Return a column with what the `charge` of a row is for."""
    return column(_("For"), lambda row: charge(row).description or NOTHING)


def state_column(name: str, marks: Mapping[str, str], cells: Cells | None = None) -> Column:
    """Return a column with the choice in the field `name` as a chip, in the colour of its mark; grey without one."""

    def shown(row: Any) -> str:
        return chip(getattr(row, f"get_{name}_display")(), marks.get(getattr(row, name), "quiet"))

    return column(_(name.capitalize()), shown, cells=cells)
