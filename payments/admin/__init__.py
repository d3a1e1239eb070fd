"""The back office: every table, searchable by any ID."""

from django.contrib import admin

from payments.admin.approvals import approvals  # noqa: F401
from payments.admin.audit import audit_log  # noqa: F401
from payments.admin.books import ledger, money_checks  # noqa: F401
from payments.admin.cases import cases  # noqa: F401
from payments.admin.charges import attempts, charges, events, idempotency, payer_messages, sources, unknown_outcomes  # noqa: F401
from payments.admin.checkout import checkouts, links  # noqa: F401
from payments.admin.disputes import disputes  # noqa: F401
from payments.admin.framework.formats import NOTHING
from payments.admin.maintenance import data_keys  # noqa: F401
from payments.admin.merchants import fee_templates, merchants, requests  # noqa: F401
from payments.admin.operators import approval_limits, assistant_calls, corrections  # noqa: F401
from payments.admin.operators import requests as operator_requests  # noqa: F401
from payments.admin.payouts import accounts as payout_accounts  # noqa: F401
from payments.admin.payouts import files, payouts, schedules  # noqa: F401
from payments.admin.provider_events import messages, simulator  # noqa: F401
from payments.admin.reconciliation import items, reports, uploads  # noqa: F401
from payments.admin.risk import blocks, decline_alerts  # noqa: F401
from payments.admin.routing import provider_accounts, routes  # noqa: F401
from payments.admin.statements import accounts, statements, trial_balances  # noqa: F401
from payments.admin.webhooks import endpoints, webhooks  # noqa: F401

admin.site.site_title = "kaha"
admin.site.site_header = "kaha"
admin.site.index_title = "Home"
admin.site.site_url = None
admin.site.empty_value_display = NOTHING
