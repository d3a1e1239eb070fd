"""The kinds of requests for approval, each of which registers its executor."""

from payments.domain.approvals.kinds import (  # noqa: F401
    accounts,
    calls,
    charge_actions,
    corrections,
    keys,
    limits,
    payouts,
    routes,
)
