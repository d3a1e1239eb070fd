"""Every invariant, in the order of the checks; other apps add their own when they are ready."""

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
]
