"""Payments of every kind with marked cards."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any

from payments.sourcetypes import SOURCE_TYPES
from tests.canaries.marks import CHARGE_CVC, CODES, marked
from tests.canaries.shop import Shop
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT

CLIENTS = 4
DECLINES = ["0002", "9995", "9987", "9979", "0069", "0127", "0119"]
KEPT_AND_DECLINED = "4000000000000341"
HELD = {"capture": False, "cvc": CHARGE_CVC}
AT_ONCE = {"require_auth": False}

Take = Callable[[Shop, int], object]


def take_payments(shop: Shop, count: int) -> None:
    """Make `count` payments, several at a time, with equal numbers of each kind."""
    with ThreadPoolExecutor(CLIENTS) as threads:
        takes = enumerate(islice(cycle(KINDS.values()), count))
        taken = [threads.submit(take, shop, number) for number, take in takes]
        for each in taken:
            each.result()


def card_of(twin: str, number: int) -> str:
    """Return the marked card of the payment with this number, which has the outcome of `twin`."""
    return marked(CODES[twin], number % 100)


def _on(twin: str, *verbs: str, amount: int | None = None, **members: Any) -> Take:
    """Return a charge on a card, with the operations after it."""

    def take(shop: Shop, number: int) -> None:
        charge = shop.charge(shop.card(card_of(twin, number)), **members)
        for verb in verbs:
            shop.act(charge, verb, **({"amount": amount} if amount else {}))

    return take


def _asked(decision: str, **source: str) -> Take:
    """Return a payment whose payer opens the page, decides and comes back; without a decision, opens it only."""

    def take(shop: Shop, number: int) -> None:
        made = shop.source(**source) if source else shop.card(card_of(CHALLENGED, number))
        url = shop.charge(made)["action"]["url"]
        shop.browse("GET", url)
        if decision:
            shop.browse("GET", shop.browse("POST", url, data={"decision": decision}).headers["Location"])

    return take


def _confirmed(source_type: str) -> Take:
    def take(shop: Shop, number: int) -> None:
        charge = shop.charge(shop.source(type=source_type))
        shop.act(charge, "verify", confirmation_id=charge["action"]["confirmation_id"], otp="123456")

    return take


def _vaulted(twin: str, deleted: bool = False) -> Take:
    def take(shop: Shop, number: int) -> None:
        customer = shop.made("/customers/", {"email": "juan@shop.example", "description": "Juan"})
        source = shop.card(card_of(twin, number))
        shop.made(f"/customers/{customer['id']}/sources", {"source": source})
        for _ in range(2):
            shop.charge(source, cvc=CHARGE_CVC)
        if deleted:
            assert shop.ask("DELETE", f"/customers/{customer['id']}").is_success

    return take


def _replayed(shop: Shop, number: int) -> None:
    """Send every request twice with its idempotency key, and another one with the same key."""
    key = {"Idempotency-Key": f"order-{number}"}
    order = {"amount": 500, "source": shop.card(card_of(APPROVED, number)), "description": "Taho", "cvc": CHARGE_CVC}
    first, again = (shop.made("/charges/", order, **key) for _ in range(2))
    assert first == again
    assert shop.post("/charges/", order | {"amount": 501}, **key).status_code == 409


def _raced(shop: Shop, number: int) -> None:
    """Two charges of one source at once."""
    order = {"amount": 500, "source": shop.card(card_of(APPROVED, number)), "description": "Taho", "cvc": CHARGE_CVC}
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: shop.post("/charges/", order).status_code, range(2)))
    assert sorted(answers) == [201, 409]


KINDS: dict[str, Take] = {
    "captured": _on(APPROVED),
    "approved without a challenge": _on(CHALLENGED, **AT_ONCE),
    "held": _on(APPROVED, **HELD),
    "held and captured": _on(APPROVED, "capture", **HELD),
    "captured in part": _on(APPROVED, "capture", amount=4_000, **HELD),
    "held and voided": _on(APPROVED, "void", **HELD),
    "captured and voided": _on(APPROVED, "void"),
    "refunded": _on(APPROVED, "refund"),
    "refunded in parts": _on(APPROVED, "refund", "refund", amount=3_000),
    "refund that fails": _on(REFUNDS_FAIL, "refund"),
    "refund that waits": _on(REFUNDS_WAIT, "refund"),
    "unknown, then approved": _on(ANSWER_LOST, **AT_ONCE),
    "unknown, then absent": _on(NEVER_ARRIVES, **AT_ONCE),
    **{f"declined as {last}": _on(f"400000000000{last}", **AT_ONCE) for last in DECLINES},
    "authenticated": _asked("pay"),
    "authentication failed": _asked("fail"),
    "authentication cancelled": _asked("cancel"),
    "authentication left": _asked(""),
    "vaulted": _vaulted(APPROVED),
    "vaulted and destroyed": _vaulted(APPROVED, deleted=True),
    "vaulted and declined": _vaulted(KEPT_AND_DECLINED),
    "replayed": _replayed,
    "raced": _raced,
    "never charged": lambda shop, number: shop.card(card_of(APPROVED, number)),
    **{kind.name: _asked("pay", type=kind.name) for kind in SOURCE_TYPES if kind.name != "card" and not kind.asks_pin},
    **{kind.name: _confirmed(kind.name) for kind in SOURCE_TYPES if kind.asks_pin},
}
