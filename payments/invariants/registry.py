"""Every invariant, in the order of the checks."""

from customers.invariants import INVARIANTS as OF_CUSTOMERS
from payments.invariants import attempts, charges, checkouts, history, ledger, payouts, simulator
from payments.invariants.invariant import Invariant

INVARIANTS: list[Invariant] = [
    *charges.INVARIANTS,
    *checkouts.INVARIANTS,
    *ledger.INVARIANTS,
    *payouts.INVARIANTS,
    *history.INVARIANTS,
    *attempts.INVARIANTS,
    *simulator.INVARIANTS,
    *OF_CUSTOMERS,
]
