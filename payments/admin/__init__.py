"""The back office: every table, searchable by any ID."""

from django.contrib import admin

from payments.admin import exports  # noqa: F401
from payments.admin.approvals import approvals  # noqa: F401
from payments.admin.audit import (
    audit_log,  # noqa: F401
    users,  # noqa: F401
)
from payments.admin.books import (
    ledger,  # noqa: F401
    money_checks,  # noqa: F401
)
from payments.admin.charges import (
    attempts,  # noqa: F401
    charges,  # noqa: F401
    csv,  # noqa: F401
    events,  # noqa: F401
    idempotency,  # noqa: F401
    sources,  # noqa: F401
    unknown_outcomes,  # noqa: F401
)
from payments.admin.framework.formats import NOTHING
from payments.admin.maintenance import data_keys  # noqa: F401
from payments.admin.merchants import merchants  # noqa: F401
from payments.admin.operators import (
    approval_limits,  # noqa: F401
    corrections,  # noqa: F401
    requests,  # noqa: F401
)
from payments.admin.provider_events import (
    messages,  # noqa: F401
    simulator,  # noqa: F401
)
from payments.admin.reconciliation import (
    items,  # noqa: F401
    reports,  # noqa: F401
)
from payments.admin.risk import (
    blocks,  # noqa: F401
    decline_alerts,  # noqa: F401
)
from payments.admin.routing import (
    provider_accounts,  # noqa: F401
    routes,  # noqa: F401
)
from payments.admin.webhooks import webhooks  # noqa: F401

admin.site.site_title = "kaha"
admin.site.site_header = "kaha"
admin.site.index_title = "Operations"
admin.site.site_url = None
admin.site.empty_value_display = NOTHING
