"""The permissions of a merchant's own people, by their role at the merchant."""

from collections.abc import Mapping, Set

from customers.domain.verbs import DETACH
from payments.domain.charging.verbs import ON_CHARGES
from payments.domain.checkout.verbs import LINK, REQUEST
from payments.inbox.decisions import MAY_SEE
from payments.inbox.statements import MAY_GET
from payments.models import MerchantAccess
from payments.staff import roles

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
SUPPORT = {
    *(VIEWER | roles.HELP),
    *(verb.permission for verb in (*ON_CHARGES, LINK, REQUEST, DETACH)),
    "payments.view_operatoraction",
    "payments.view_assistantcall",
}
FINANCE = {
    *(SUPPORT | roles.DECIDE),
    MAY_SEE,
    MAY_GET,
    "payments.view_statement",
    "payments.view_payoutaccount",
    "payments.view_payoutschedule",
}
DEVELOPER = {
    *(VIEWER | roles.KEYS | roles.EXPORT | roles.SEND_AGAIN),
    MAY_SEE,
    "payments.view_apikey",
    "payments.view_webhookendpoint",
    "payments.view_webhook",
    "payments.view_webhookattempt",
    "payments.view_webhooksecret",
    "payments.view_event",
    "payments.view_apirequest",
}
OWNER = {
    *(FINANCE | DEVELOPER | roles.TERMS),
    "payments.view_merchant",
    "payments.view_approvallimit",
    "payments.view_merchantaccess",
    "payments.add_merchantaccess",
    "payments.change_merchantaccess",
}
PERMISSIONS: Mapping[str, Set[str]] = {
    Role.OWNER: OWNER,
    Role.FINANCE: FINANCE,
    Role.SUPPORT: SUPPORT,
    Role.DEVELOPER: DEVELOPER,
    Role.VIEWER: VIEWER,
}
