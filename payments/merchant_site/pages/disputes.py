from payments.admin.columns import order_column
from payments.admin.disputes.disputes import DisputeAdmin
from payments.merchant_site.policy import on_merchant_site
from payments.models import Dispute

on_merchant_site(Dispute, what_for=order_column())(DisputeAdmin)
