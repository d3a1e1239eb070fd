"""Django's admin imports this module: it registers the pages of the merchants' site."""

from payments.merchant_site.pages import (  # noqa: F401
    approval_limits,
    approvals,
    charges,
    checkouts,
    colleagues,
    developers,
    disputes,
    payouts,
    settings,
    statements,
)
