"""Adyen's webhooks as its fake writes them: one signed item each, held to Adyen's own description."""

import base64
import hashlib
import hmac
import json
from typing import Any

from payments import clock
from tests.providers.bench import SignedMessage
from tests.providers.openapi import described

WEBHOOKS = described("adyen-Webhooks-v1.json")
HMAC_KEY = "5A" * 32
MERCHANT_ACCOUNT = "KahaPH"
# What the signature covers, in this order; amount and currency stand a level deeper.
SIGNED = ("pspReference", "originalReference", "merchantAccountCode", "merchantReference")


# Adyen's description has no schema that allows these codes, though it has pages about most of them.
NOT_DESCRIBED = {
    *("DISPUTE_OPENED_WITH_CHARGEBACK", "PREARBITRATION_ACCEPTED", "PREARBITRATION_DECLINED"),
    *("PREARBITRATION_ISSUER_WITHDRAWN", "SCHEME_ARBITRATION", "SCHEME_ARBITRATION_WON", "SCHEME_ARBITRATION_LOST"),
    *("MANUAL_REVIEW_ACCEPT", "NOTIFICATION_OF_FRAUD", "DISPUTE_OF_A_KIND_TO_COME"),
}


def item_of(event: str, *, success: bool, currency: str, value: int, **members: Any) -> dict[str, Any]:
    """Return an item about `event`, not signed yet."""
    return {
        "amount": {"currency": currency, "value": value},
        "eventCode": event,
        "eventDate": clock.now().isoformat(),
        "merchantAccountCode": MERCHANT_ACCOUNT,
        "success": "true" if success else "false",
        **members,
    }


def webhook_of(*items: dict[str, Any]) -> SignedMessage:
    """Build the message of these items, each signed."""
    announced = {"live": "false", "notificationItems": [{"NotificationRequestItem": signed(item)} for item in items]}
    if items[0]["eventCode"] not in NOT_DESCRIBED:
        WEBHOOKS.check_webhook(f"/{items[0]['eventCode']}", announced)
    return {}, json.dumps(announced).encode()


def signed(item: dict[str, Any]) -> dict[str, Any]:
    """Return the same item with Adyen's signature."""
    parts = [str(item.get(name, "")) for name in SIGNED]
    parts += [str(item["amount"]["value"]), item["amount"]["currency"], item["eventCode"], item["success"]]
    digest = hmac.digest(bytes.fromhex(HMAC_KEY), ":".join(parts).encode(), hashlib.sha256)
    return item | {
        "additionalData": item.get("additionalData", {}) | {"hmacSignature": base64.b64encode(digest).decode()}
    }
