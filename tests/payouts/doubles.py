"""Providers of payouts that fail, around the real simulator and its books."""

from payments.providers.base import PayoutOutcome, Rejected
from payments.providers.payouts import PayoutOrder
from payments.providers.simulator.connector import Simulator


class RefusesPayouts(Simulator):
    """Refuses each request, for a reason of ours: nothing is paid."""

    def create_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return Rejected("no_balance", "Your balance has too little.")
