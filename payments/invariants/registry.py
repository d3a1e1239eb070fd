"""Every invariant, in the order in which they are looked at; other apps add their own when they are ready."""

from payments.invariants import attempts, charges, history, ledger, simulator, staff_acts
from payments.invariants.invariant import Invariant

INVARIANTS: list[Invariant] = [
    *charges.INVARIANTS,
    *ledger.INVARIANTS,
    *history.INVARIANTS,
    *attempts.INVARIANTS,
    *staff_acts.INVARIANTS,
    *simulator.INVARIANTS,
]
