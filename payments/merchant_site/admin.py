"""Django's admin imports this module: it registers the pages of the merchants' site."""

from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import NOTHING
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
from payments.merchant_site.site import merchant_site

merchant_site.site_title = merchant_site.site_header = "kaha"
merchant_site.index_title, merchant_site.site_url = _("Home"), None
merchant_site.empty_value_display = NOTHING
