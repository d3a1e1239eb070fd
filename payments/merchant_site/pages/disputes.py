from django.contrib import admin

from payments.admin.columns import order_column
from payments.admin.disputes.disputes import DisputeAdmin
from payments.merchant_site.pages.base import OfMerchant
from payments.merchant_site.site import merchant_site
from payments.models import Dispute


@admin.register(Dispute, site=merchant_site)
class MerchantDisputes(OfMerchant, DisputeAdmin):
    row_actions = DisputeAdmin.row_actions
    what_for = order_column()
