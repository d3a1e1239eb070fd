"""Every call of kaha with every member and parameter that it takes, and what it is asked about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from payments import clock
from payments.domain.merchants.merchants import create_merchant
from payments.providers.simulator.models import SimulatedPayment
from tests.checkout.cast import ORDER, collected, opened
from tests.checkout.shelf import ORDER as LINK_ORDER
from tests.checkout.shelf import linked
from tests.client import Api, made
from tests.contract.calls import (
    CARD,
    endpoint,
    keep,
    new_dispute,
    new_payout,
    new_transaction,
    newest_event,
    newest_request,
    with_evidence,
)
from tests.contract.calls import customer as new_customer
from tests.contract.checkout_calls import held_session

ADDRESS = {
    "name": "Juan dela Cruz",
    "phone_number": "0917-123",
    "email": "juan@shop.example",
    "line1": "12 Session Road",
    "line2": "Unit 3",
    "city": "Baguio",
    "state": "Benguet",
    "country": "PH",
    "zip_code": "2600",
}
CARD_ADDRESS = {f"address_{name}": "Baguio" for name in ("line1", "line2", "city", "state", "country", "zip")}
SITE = "https://shop.example"
METADATA = {"order": 1001, "tags": ["a", {"b": None}], "ratio": 1.5}
SOURCE = {
    "type": "card",
    "card": CARD | CARD_ADDRESS,
    "redirect": {"success": f"{SITE}/yes", "fail": f"{SITE}/no?a=%20", "notify": f"{SITE}/hook"},
    "owner": {"billing": ADDRESS, "shipping": ADDRESS, "name": "Juan", "address_country": "PH"},
    "metadata": METADATA,
    "currency": "PHP",
}
CHARGE = {
    "amount": 10_000,
    "currency": "PHP",
    "source": "{source}",
    "description": "Halo-halo",
    "statement_descriptor": "SARI STORE",
    "capture": True,
    "cvc": "123",
    "require_auth": False,
    "initiator": "customer",
    "schedule": "unscheduled",
    "redirect_url": f"{SITE}/back",
    "metadata": METADATA,
}
CUSTOMER = {
    "email": "maria@shop.example",
    "description": "Orders rice on Mondays",
    "mobile_number": "09171234567",
    "metadata": METADATA,
}
CONSENT = {
    "text": "A box each week.",
    "at": "2026-11-20T09:30:00+08:00",
    "ip": "203.0.113.7",
    "user_agent": "Mozilla/5.0",
}
BRANDING = {
    "icon": f"{SITE}/i.png",
    "logo": f"{SITE}/l.png",
    "use_logo": True,
    "primary_color": "#1a73e8",
    "secondary_color": "#ffd84d",
}
ITEM = {"name": "Halo-halo", "amount": 12_500, "quantity": 2, "description": "With ube", "image": f"{SITE}/h.png"}
LINK = LINK_ORDER | {
    "line_items": [ITEM | {"remaining": 2}],
    "branding": BRANDING,
    "description": "For the beach",
    "expiry": "12/31/2098",
    "maximum_payments": 10,
    "metadata": METADATA,
    "phone_number_collection": True,
    "redirect_url": f"{SITE}/thanks",
    "require_auth": True,
    "shipping_address_collection": {"allowed_countries": ["PH"]},
}
SESSION = ORDER | {
    "line_items": [ITEM],
    "amount": 25_000,
    "mode": "payment",
    "bank_code": "BPI",
    "branding": BRANDING,
    "billing_address_collection": "required",
    "shipping_address_collection": {"allowed_countries": ["PH"]},
    "customer": "{customer}",
    "customer_name_collection": True,
    "phone_number_collection": True,
    "client_reference_id": "1001",
    "customer_email": "maria@shop.example",
    "customer_name": "Maria",
    "customer_phone": "0917 123",
    "description": "Order 1001",
    "metadata": METADATA,
    "locale": "fil",
    "submit_type": "book",
    "require_auth": False,
    "expires_at": int((clock.now() + timedelta(hours=12)).timestamp()),
}
KEEPING = {name: ORDER[name] for name in ("success_url", "cancel_url", "currency")} | {
    "mode": "save_card",
    "payment_method_types": ["card"],
}
INVOICE = {name: ORDER[name] for name in ("currency", "line_items", "payment_method_types")} | {
    "line_items": [ITEM],
    "branding": BRANDING,
    "require_auth": True,
    "customer": "{customer}",
    "delivery_methods": ["email"],
    "message": "For the party",
    "metadata": METADATA,
}
COLLECT = {"schedule": [0, 30], "recurring": True}
ENDPOINT = {"url": f"{SITE}/hooks", "enabled_events": ["*"], "description": "Orders", "metadata": METADATA}
PAGE = {"start_after": "", "limit": "2", "expand": "a"}
PERIOD = {"created_at[gte]": "2026-01-01", "created_at[lt]": "2099-01-01T00:00:00.5+08:00"}
CHARGES = PAGE | {
    "start_after": "{charge}",
    "status": "succeeded",
    "captured": "true",
    "authorized": "false",
    "customer": "{customer}",
    "source": "{source}",
    **PERIOD,
}
TRANSACTIONS = PAGE | PERIOD | {"start_after": "{transaction}", "balance": "pending", "currency": "PHP"}
# By what a path, body or query calls it, the IDs and the like of what there is.
Stock = Mapping[str, list[str]]


@dataclass(frozen=True)
class Call:
    """One call; `{name}` in its path, body and query stands for something of the stock."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_api(self) -> bool:
        return self.path.startswith("/v2/")


CALLS = [
    Call("POST", "/v2/sources/", SOURCE),
    Call("GET", "/v2/sources/{source}"),
    Call("POST", "/v2/charges/", CHARGE),
    Call("GET", "/v2/charges/", query=CHARGES),
    Call("GET", "/v2/charges/{charge}"),
    Call("POST", "/v2/charges/{held}/capture", {"amount": 5000}),
    Call("POST", "/v2/charges/{held}/void", {}),
    Call("POST", "/v2/charges/{charge}/refund", {"amount": 10, "reason": "asked_for"}),
    Call("POST", "/v2/charges/{debit}/verify", {"confirmation_id": "{confirmation}", "otp": "123456"}),
    Call("POST", "/v2/customers/", CUSTOMER),
    Call("GET", "/v2/customers/", query=PAGE | {"start_after": "{customer}", "email": "maria@shop.example"}),
    Call("GET", "/v2/customers/{customer}"),
    Call("PUT", "/v2/customers/{customer}", CUSTOMER),
    Call("DELETE", "/v2/customers/{leaving}", {}),
    Call("GET", "/v2/customers/by_email/{email}"),
    Call("POST", "/v2/customers/{customer}/sources", {"source": "{source}", "consent": CONSENT}),
    Call("DELETE", "/v2/customers/{keeper}/sources/{kept}", {}),
    Call("GET", "/v2/disputes/", query=PAGE | {"start_after": "{dispute}", "status": "lost", "charge": "{charge}"}),
    Call("GET", "/v2/disputes/{dispute}"),
    Call("POST", "/v2/disputes/{dispute}/evidence", {"type": "receipt", "text": "Signed for"}),
    Call("POST", "/v2/disputes/{dispute}/evidence", {"type": "other", "file": "JVBERi0xLjcgQSByZWNlaXB0"}),
    Call("GET", "/v2/disputes/{dispute}/evidence"),
    Call("POST", "/v2/disputes/{defended}/submit", {}),
    Call("POST", "/v2/disputes/{lost}/accept", {}),
    Call("POST", "/v2/checkout_sessions/", SESSION),
    Call("POST", "/v2/checkout_sessions/", KEEPING),
    Call("GET", "/v2/checkout_sessions/", query=PAGE | {"start_after": "{session}"}),
    Call("GET", "/v2/checkout_sessions/{session}"),
    Call("POST", "/v2/checkout_sessions/{session}/expire", {}),
    Call("POST", "/v2/checkout_sessions/{held_session}/capture", {"amount": 10}),
    Call("POST", "/v2/payment_requests/", INVOICE),
    Call(
        "POST",
        "/v2/payment_requests/",
        INVOICE | {"source": "{source}", "collect": {"schedule": [0], "recurring": True}},
    ),
    Call("GET", "/v2/payment_requests/", query=PAGE | {"start_after": "{invoice}", "status": "open"}),
    Call("GET", "/v2/payment_requests/{invoice}"),
    Call("POST", "/v2/payment_requests/{invoice}/resend", {}),
    Call("POST", "/v2/payment_requests/{invoice}/collect", {"collect": COLLECT}),
    Call("POST", "/v2/payment_requests/{invoice}/stop_collecting", {}),
    Call("POST", "/v2/payment_requests/{invoice}/void", {"reason": "Sent twice"}),
    Call("POST", "/v2/payment_links/", LINK),
    Call("GET", "/v2/payment_links/", query=PAGE | {"start_after": "{link}", "status": "active"}),
    Call("GET", "/v2/payment_links/{link}"),
    Call("PUT", "/v2/payment_links/{link}", LINK | {"linkId": "{link}"}),
    Call("POST", "/v2/payment_links/{link}/activate", {}),
    Call("POST", "/v2/payment_links/{link}/deactivate", {}),
    Call("POST", "/v2/webhook_endpoints/", ENDPOINT),
    Call("GET", "/v2/webhook_endpoints/", query=PAGE | {"start_after": "{endpoint}"}),
    Call("GET", "/v2/webhook_endpoints/{endpoint}"),
    Call("PUT", "/v2/webhook_endpoints/{endpoint}", ENDPOINT | {"status": "enabled"}),
    Call("POST", "/v2/webhook_endpoints/{endpoint}/test", {}),
    Call("POST", "/v2/webhook_endpoints/{endpoint}/roll_secret", {"overlap_seconds": 60}),
    Call("DELETE", "/v2/webhook_endpoints/{unused_endpoint}", {}),
    Call("GET", "/v2/payouts/", query=PAGE | PERIOD | {"start_after": "{payout}", "status": "paid", "currency": "PHP"}),
    Call("GET", "/v2/payouts/{payout}"),
    Call("GET", "/v2/payouts/{payout}/transactions", query=PAGE | {"start_after": "{transaction}"}),
    Call("GET", "/v2/balance_transactions/", query=TRANSACTIONS | {"charge": "{charge}"}),
    Call("GET", "/v2/balance_transactions/", query=TRANSACTIONS | {"payout": "{payout}"}),
    Call("GET", "/v2/balance_transactions/{transaction}"),
    Call("GET", "/v2/proofs/{transaction}"),
    Call("GET", "/v2/events/", query=PAGE | {"start_after": "{event}", "type": "charge.created", "object": "{charge}"}),
    # Nothing newer is waited for, and the list is not empty: both are answered at once.
    Call("GET", "/v2/events/", query={"ending_before": "{event}"}),
    Call("GET", "/v2/events/", query=PAGE | {"wait": "1"}),
    Call("GET", "/v2/events/{event}"),
    Call("GET", "/v2/requests/", query=PAGE | {"start_after": "{request}", "wait": "1"}),
    Call("GET", "/v2/requests/", query={"ending_before": "{request}"}),
    Call("GET", "/v2/requests/{request}"),
    Call("GET", "/v2/me"),
    Call("GET", "/v2/balance"),
    Call("GET", "/v2/ping"),
    Call("POST", "/v2/test/clock", {"advance_seconds": 60}),
    Call("POST", "/v2/test/events", {"type": "payout_account.updated"}),
    Call("GET", "/ping"),
    Call("GET", "/v2/openapi.json"),
    Call("GET", "/return/{return}", query={"a": "b"}),
    Call("GET", "/simulator/pay/{page}"),
    Call("POST", "/simulator/pay/{page}", {"decision": "pay", "tries": "0", "pin": "123456"}),
    Call("GET", "/simulator/pay/{page}/qr.svg"),
]


def shop() -> tuple[Api, Stock]:
    """Return a new merchant's API, and something of everything that a call may be about."""
    api = Api(create_merchant("Sari Store").keys["sk_test"])
    keeper = new_customer(api, email="ana@shop.example")["id"]
    debits = [api.charge_source(api.wallet("bpi")) for _ in range(3)]
    waiting = [api.charge_source(api.wallet(kind)) for kind in ("gcash", "qrph", "bpi")]
    return api, {
        "source": [api.source(), api.source(), api.wallet(), keep(api, api.source())],
        "charge": [api.charge()["id"] for _ in range(3)],
        "held": [api.held()["id"] for _ in range(4)],
        "debit": [debit["id"] for debit in debits],
        "confirmation": [debit["action"]["confirmation_id"] for debit in debits],
        "customer": [new_customer(api)["id"]],
        "leaving": [new_customer(api)["id"] for _ in range(2)],
        "email": ["maria@shop.example"],
        "keeper": [keeper],
        "kept": [_kept(api, keeper) for _ in range(2)],
        "dispute": [new_dispute(api)],
        "defended": [with_evidence(api)],
        "lost": [new_dispute(api)],
        "session": [opened(api)["id"] for _ in range(2)],
        "held_session": [held_session(api)["id"]],
        "invoice": [collected(api)["id"] for _ in range(2)],
        "link": [linked(api)["id"]],
        "endpoint": [endpoint(api)["id"]],
        "unused_endpoint": [endpoint(api)["id"] for _ in range(2)],
        "payout": [new_payout(api)],
        "transaction": [new_transaction(api)],
        "event": [newest_event(api)],
        "request": [newest_request(api)],
        "page": [charge["action"]["url"].rpartition("/")[2] for charge in waiting],
        "return": [url.rpartition("/")[2] for url in SimulatedPayment.objects.values_list("return_url", flat=True)],
    }


def _kept(api: Api, keeper: str) -> str:
    source = api.source()
    made(api.post(f"/customers/{keeper}/sources", {"source": source}))
    return source
