"""Our source types as Adyen calls them, and what it does with each.

Banks go through Dragonpay there, whose bank names only an account itself can look up: they are left out.
"""

from payments.providers.base import Capabilities

DOMAINS = ("*.adyen.com", "*.adyenpayments.com")
CARD = "scheme"
METHODS = {
    "card": CARD,
    "gcash": "gcash",
    "maya": "paymaya_wallet",
    "paymaya": "paymaya_wallet",
    "grabpay": "grabpay_PH",
    "alipay": "alipay",
    "wechat": "wechatpayQR",
    "unionpay": "unionpay",
}
# Whose smallest unit is another one at Adyen than in ISO 4217, so that an amount would be a hundred times too much.
OTHER_UNITS = frozenset(["CLP", "CVE", "IDR", "ISK"])


def capabilities(source_type: str) -> Capabilities | None:
    """Return Adyen's capabilities for a source type; None where Adyen does not accept it."""
    method = METHODS.get(source_type)
    return Capabilities(hold=method == CARD, zero_amount=method == CARD) if method else None
