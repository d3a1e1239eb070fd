from django.contrib import admin

from payments.admin.charges.charges import ChargeAdmin, RefundAdmin
from payments.admin.charges.payer_messages import SendReceipt
from payments.merchant_site.pages.base import OfMerchant
from payments.merchant_site.site import merchant_site
from payments.models import Charge, Refund


@admin.register(Charge, site=merchant_site)
class MerchantCharges(OfMerchant, ChargeAdmin):
    row_actions = (SendReceipt(),)


@admin.register(Refund, site=merchant_site)
class MerchantRefunds(OfMerchant, RefundAdmin):
    """The refunds."""
