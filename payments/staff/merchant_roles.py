"""The permissions of a merchant's own people, by their role at the merchant."""

from payments.domain.charging.verbs import ON_CHARGES
from payments.domain.checkout.verbs import LINK, REQUEST
from payments.models import MerchantAccess

Role = MerchantAccess.Role

VIEWER = frozenset(
    {
        "payments.view_charge",
        "payments.view_refund",
        "payments.view_source",
        "payments.view_checkout",
        "payments.view_paymentlink",
        "payments.view_dispute",
        "payments.view_payout",
        "payments.view_payermessage",
        "customers.view_customer",
    }
)
SUPPORT = VIEWER | {
    "payments.export_list",
    *(verb.permission for verb in (*ON_CHARGES, LINK, REQUEST)),
    "payments.respond_dispute",
    "payments.expire_checkout",
    "payments.void_checkout",
    "payments.resend_checkout",
    "payments.switch_paymentlink",
    "payments.resend_payermessage",
    "payments.view_operatoraction",
    "payments.view_assistantcall",
    "customers.delete_customersource",
}
FINANCE = SUPPORT | {
    "payments.accept_dispute",
    "payments.decide_operatoraction",
    "payments.view_approvalrequest",
    "payments.view_statement",
    "payments.download_statement",
    "payments.view_payoutaccount",
    "payments.view_payoutschedule",
}
DEVELOPER = VIEWER | {
    "payments.export_list",
    "payments.view_apikey",
    "payments.add_apikey",
    "payments.change_apikey",
    "payments.delete_apikey",
    "payments.view_webhookendpoint",
    "payments.change_webhookendpoint",
    "payments.view_webhook",
    "payments.change_webhook",
    "payments.view_webhooksecret",
    "payments.add_webhooksecret",
    "payments.view_event",
    "payments.view_apirequest",
    "payments.view_approvalrequest",
}
OWNER = (
    FINANCE
    | DEVELOPER
    | {
        "payments.decide_approvalrequest",
        "payments.view_merchant",
        "payments.change_merchant",
        "payments.add_payoutaccount",
        "payments.withdraw_payoutaccount",
        "payments.view_approvallimit",
        "payments.add_approvallimit",
        "payments.change_approvallimit",
        "payments.view_merchantaccess",
        "payments.add_merchantaccess",
        "payments.change_merchantaccess",
    }
)
PERMISSIONS: dict[str, frozenset[str]] = {
    Role.OWNER: OWNER,
    Role.FINANCE: FINANCE,
    Role.SUPPORT: SUPPORT,
    Role.DEVELOPER: DEVELOPER,
    Role.VIEWER: VIEWER,
}
