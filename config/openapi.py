"""How drf-spectacular makes the OpenAPI document; `payments.api.schema` says what is in it."""

from typing import Any


def settings(public_url: str) -> dict[str, Any]:
    """Return SPECTACULAR_SETTINGS for a service at `public_url`."""
    return {
        "OAS_VERSION": "3.1.0",
        "TITLE": "kaha API",
        "VERSION": "v2",
        "SERVERS": [{"url": public_url}],
        "TAGS": [
            {"name": "Sources", "description": "Cards, wallets and bank accounts, before they are charged."},
            {"name": "Charges", "description": "Taking, holding, capturing, voiding and refunding money."},
            {"name": "Checkout", "description": "Payments on a page of ours: sessions, links and requests."},
            {"name": "Disputes", "description": "Charges whose payers ask their bank for the money back."},
            {"name": "Payouts", "description": "Money of your balance that goes to your bank."},
            {"name": "Customers", "description": "Payers, and the sources kept for them."},
            {"name": "Events", "description": "What has changed."},
            {"name": "Webhook endpoints", "description": "Where events are sent."},
            {"name": "Requests", "description": "What your programs have asked."},
            {"name": "Account", "description": "Your merchant account and your keys."},
            {"name": "Testing", "description": "What only test mode has."},
        ],
        "PREPROCESSING_HOOKS": [
            "payments.api.schema.document.clean_paths",
            "customers.api.schema.describe_customers",
        ],
        "POSTPROCESSING_HOOKS": [
            "payments.api.schema.document.finish",
            "payments.api.reference.samples.add_samples",
        ],
        "SCHEMA_PATH_PREFIX": "/v2",
        "SORT_OPERATION_PARAMETERS": False,
    }
