"""The query strings of the lists of payouts and balance transactions."""

from collections.abc import Mapping
from typing import Any

from payments.api.validation.fields import Currency, OneOf
from payments.api.validation.query_fields import PeriodQuery, QueryId
from payments.api.validation.strict import Errors
from payments.models import Payout
from payments.money import KNOWN_CURRENCIES
from payments.rendering.objects.payouts import BALANCES


class PayoutListQuery(PeriodQuery):
    """The filters of payouts."""

    listed = "payouts"
    status = OneOf(Payout.Status.values, required=False, help_text="Only payouts with this status.")
    currency = Currency(KNOWN_CURRENCIES, required=False, help_text="Only payouts in this currency.")


class TransactionListQuery(PeriodQuery):
    """The filters of balance transactions."""

    default_error_messages = {"not_together": "Give this without {other}: no transaction is of both."}

    listed = "transactions"
    balance = OneOf(tuple(BALANCES.values()), required=False, help_text="Only transactions of this balance.")
    currency = Currency(KNOWN_CURRENCIES, required=False, help_text="Only transactions in this currency.")
    charge = QueryId("ch", required=False, help_text="Only transactions of the charge with this ID.")
    payout = QueryId(
        "po",
        required=False,
        help_text="Only transactions of the payout with this ID itself: what left your balance with it, and came back. "
        "What it is made of is at `/v2/payouts/{id}/transactions`.",
    )

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        super().check_together(data, errors)
        if data.get("charge") and data.get("payout"):
            errors["payout"] = [self.fault("not_together", other="charge")]
