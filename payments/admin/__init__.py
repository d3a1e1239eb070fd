"""What operators see: every table, searchable by any ID, and no way to move money by hand."""

from django.contrib import admin

from payments.admin import (  # noqa: F401  registers the pages
    act_limits,
    approvals,
    attempts,
    audit,
    blocks,
    charge_sheet,
    charges,
    corrections,
    data_keys,
    decline_alerts,
    desk,
    events,
    exports,
    idempotency,
    ledger,
    merchants,
    money_checks,
    notifications,
    people,
    provider_accounts,
    reconciliation,
    reports,
    routes,
    simulator,
    sources,
    staff_acts,
    webhooks,
)
from payments.admin.formats import NOTHING

admin.site.site_title = "kaha"
admin.site.site_header = "kaha"
admin.site.index_title = "Operations"
admin.site.site_url = None
admin.site.empty_value_display = NOTHING
