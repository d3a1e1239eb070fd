"""What is counted: requests of a merchant, of a payer and of people, and the worker's work."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client

from config.celery import app
from config.worker import run_sweep
from config.wsgi import application
from payments import clock, ids
from payments.domain.merchants.key_cache import cached_keys
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.models import ApiKey, MerchantAccess
from payments.quickstart.payment import CARD, CART, OFFER, ORDER, REFUNDED
from payments.sweeps import claims
from payments.sweeps.table import SWEEPS
from payments.sweeps.timer import TICK_SECONDS
from payments.web.environ import Environ, environ_of, put_body
from payments.webhooks.worker import DeliveryLoop
from tests.benchmark.calls.counts import COUNTED, WARM, Act, Count, counted, total
from tests.checkout.cast import billed
from tests.client import Api, made, signed_in
from tests.contract.calls import CUSTOMER
from tests.figures.webhooks.events import put_events
from tests.ledger.books import charge_fees
from tests.support.receiver import receiver_process

DAY_SECONDS = 86_400
TIMES = WARM + COUNTED
# A list for people calls a hundred times as many functions, and none of them by chance.
TIMES_OF_PAGE = 8
PAGE = 20
# The digits in a row of an ID that may be a card number: it is searched for longer, in a log line and in a path.
LOOKED_AT = re.compile("[0-9]{12}")
PAGES = {"success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/cart"}


@dataclass
class Cast:
    """A merchant of one example, and its client."""

    name: str
    shop: NewMerchant = field(init=False)
    api: Api = field(init=False)

    def __post_init__(self) -> None:
        self.shop = _merchant(self.name)
        charge_fees(self.shop.merchant)
        self.api = Api(self.shop.keys["sk_test"])

    def ask(self, method: str, path: str, body: Any = None, *, is_once: bool = True) -> Act:
        """Return a request of the merchant's program to the API; one with a body `is_once` under a key of its own."""
        headers = {**self.api.headers(), "Content-Type": "application/json"}
        if body is not None and is_once:
            headers["Idempotency-Key"] = str(uuid4())
        return _request(method, f"/v2{path}", headers, b"" if body is None else json.dumps(body).encode())

    def again(self, path: str) -> list[Act]:
        return [self.ask("GET", path) for _ in range(TIMES)]

    def charges(self, **members: Any) -> list[Act]:
        return [self.ask("POST", "/charges/", {**ORDER, "source": self.api.source(), **members}) for _ in range(TIMES)]

    def operations(self, verb: str, body: Any, **members: Any) -> list[Act]:
        charges = [self.api.charge(**members)["id"] for _ in range(TIMES)]
        return [self.ask("POST", f"/charges/{charge}/{verb}", body) for charge in charges]

    def session(self) -> dict[str, Any]:
        return made(self.api.post("/checkout_sessions/", {**CART, **PAGES}))

    def listed(self, path: str, make: Callable[["Cast"], object]) -> list[Act]:
        """Return requests for the first page of PAGE rows, of one more."""
        for _ in range(PAGE + 1):
            make(self)
        return self.again(f"{path}?limit={PAGE}")

    def site(self, path: str, user: User) -> list[Act]:
        """Return requests of somebody who is signed in, for a list of charges."""
        for _ in range(PAGE + 1):
            self.api.charge()
        return _pages(path, signed_in(user))


def _merchant(name: str) -> NewMerchant:
    """Create a merchant, again until no ID that its log lines hold is LOOKED_AT for longer, as one is by chance."""
    while True:
        with transaction.atomic():
            shop = create_merchant(name)
            keys = ApiKey.objects.filter(merchant=shop.merchant).values_list("id", flat=True)
            if not any(LOOKED_AT.search(each.hex) for each in (shop.merchant.id, *keys)):
                return shop
            transaction.set_rollback(True)


def _request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Act:
    path, _, query = path.partition("?")
    scope = {
        "method": method,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", "8000"),
        "client": ("127.0.0.1", "50000"),
        "headers": [(name.lower().encode(), text.encode()) for name, text in {"Host": "127.0.0.1", **headers}.items()],
    }
    environ = environ_of(scope)
    put_body(environ, body)
    return partial(_answered, environ)


def _answered(environ: Environ) -> None:
    """Have Django's handler answer, as a thread of the web server does. Raises AssertionError for a refusal."""
    status = ""

    def start(given: str, *_: object) -> None:
        nonlocal status
        status = given

    response = application(environ, start)
    body = b"".join(response)
    response.close()
    assert status[:1] == "2", (environ["PATH_INFO"], status, body[:300])


def _pages(path: str, browser: Client) -> list[Act]:
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())
    return [_request("GET", path, {"Cookie": cookies}) for _ in range(TIMES_OF_PAGE)]


def _new_source(cast: Cast) -> Act:
    return cast.ask("POST", "/sources/", {"type": "card", "card": CARD}, is_once=False)


def _reads_one(path: str, make: Callable[[Cast], Any]) -> Callable[[Cast], list[Act]]:
    def acts(cast: Cast) -> list[Act]:
        while LOOKED_AT.search(identity := make(cast)["id"]):
            pass
        return cast.again(f"{path}/{identity}")

    return acts


def _link(cast: Cast) -> dict[str, Any]:
    return made(cast.api.post("/payment_links/", OFFER))


def _customer(cast: Cast) -> dict[str, Any]:
    return made(cast.api.post("/customers/", CUSTOMER))


def _kept(cast: Cast) -> dict[str, Any]:
    customer = _customer(cast)
    made(cast.api.post(f"/customers/{customer['id']}/sources", {"source": cast.api.source()}))
    return customer


def _refunded(cast: Cast) -> dict[str, Any]:
    charge = cast.api.charge()
    return made(cast.api.post(f"/charges/{charge['id']}/refund", {"amount": REFUNDED // 25}))


def _event(cast: Cast) -> dict[str, Any]:
    cast.api.source()
    return made(cast.api.get("/events/"))["data"][0]


def _merchant_list(cast: Cast) -> list[Act]:
    user = User.objects.create(username="owner")
    MerchantAccess.objects.create(user=user, merchant=cast.shop.merchant, role=MerchantAccess.Role.OWNER)
    return cast.site("/merchant/payments/charge/", user)


def _operator_list(cast: Cast) -> list[Act]:
    return cast.site("/admin/payments/charge/", User.objects.create_superuser("operator"))


def _payer_page(cast: Cast) -> list[Act]:
    return [_request("GET", f"/checkout/{cast.session()['id']}", {}) for _ in range(TIMES)]


# By name, what makes the acts of one that has the merchant to itself.
EXAMPLES: Mapping[str, Callable[[Cast], Sequence[Act]]] = {
    "source": lambda cast: [_new_source(cast) for _ in range(TIMES)],
    "charge": lambda cast: cast.charges(),
    "charge_held": lambda cast: cast.charges(capture=False),
    "capture": lambda cast: cast.operations("capture", {}, capture=False),
    "refund": lambda cast: cast.operations("refund", {"amount": REFUNDED // 25}),
    "list": lambda cast: cast.listed("/charges/", lambda cast: cast.api.charge()),
    "charge_read": _reads_one("/charges", lambda cast: cast.api.charge()),
    "source_read": _reads_one("/sources", lambda cast: {"id": cast.api.source()}),
    "ping": lambda cast: cast.again("/ping"),
    "session": lambda cast: [cast.ask("POST", "/checkout_sessions/", {**CART, **PAGES}) for _ in range(TIMES)],
    "session_read": _reads_one("/checkout_sessions", Cast.session),
    "session_list": lambda cast: cast.listed("/checkout_sessions/", Cast.session),
    "link_read": _reads_one("/payment_links", _link),
    "link_list": lambda cast: cast.listed("/payment_links/", _link),
    "request_read": _reads_one("/payment_requests", lambda cast: billed(cast.api)),
    "request_list": lambda cast: cast.listed("/payment_requests/", lambda cast: billed(cast.api)),
    "event_read": _reads_one("/events", _event),
    "event_list": lambda cast: cast.listed("/events/", lambda cast: cast.api.source()),
    "customer_read": _reads_one("/customers", _kept),
    "customer_list": lambda cast: cast.listed("/customers/", _kept),
    "refund_read": _reads_one("/charges", _refunded),
    "refund_list": lambda cast: cast.listed("/charges/", _refunded),
    "balance": lambda cast: cast.again("/balance"),
    "balance_list": lambda cast: cast.listed("/balance_transactions/", lambda cast: cast.api.charge()),
    "payer_page": _payer_page,
    "merchant_list": _merchant_list,
    "operator_list": _operator_list,
}


def count_all(names: Sequence[str], log_bytes: Callable[[], int]) -> Iterator[tuple[str, Count]]:
    """Yield what each of them costs; WORKER's are last, when the worker has done what the others left."""
    # A machine that is so slow that a key is read again at each request counts the same.
    cached_keys.seconds = DAY_SECONDS
    for name in names:
        if name in EXAMPLES:
            acts = EXAMPLES[name](Cast(name))
            # Django's test client, which has prepared them, has connected it again.
            for signal in (request_started, request_finished):
                signal.disconnect(close_old_connections)
            yield name, counted(acts, log_bytes, min(WARM, len(acts) // 2))
    for name in names:
        if name in WORKER:
            yield name, WORKER[name](log_bytes)


def _attempt(log_bytes: Callable[[], int]) -> Count:
    """Count one webhook that is due, from the look for it to the record of its attempt."""
    shop = _merchant("webhook").merchant
    loop = DeliveryLoop()

    def deliver() -> None:
        assert loop.run() == 1

    with receiver_process() as url:

        def acts() -> Iterator[Act]:
            for _ in range(TIMES):
                put_events(shop, url, 1, clock.now())
                yield deliver

        return counted(acts(), log_bytes)


def _run_all(name: str) -> None:
    assert run_sweep(app, name) == "", name


def _idle_second(log_bytes: Callable[[], int]) -> Count:
    """Sum up what each sweep costs that finds nothing, by how often it runs, and the looks for what is due."""
    app.loader.import_default_modules()
    claims.register()
    worker = ids.new_id()
    for name in SWEEPS:
        for _ in range(3):
            _run_all(name)
    sweeps = [(counted([partial(_run_all, name)] * 3, log_bytes, 1), 1 / SWEEPS[name].seconds) for name in SWEEPS]
    look = counted([partial(claims.claim, worker, list(SWEEPS), 0)] * 3, log_bytes, 1)
    return total([*sweeps, (look, 1 / TICK_SECONDS)])


WORKER: Mapping[str, Callable[[Callable[[], int]], Count]] = {"webhook": _attempt, "idle_second": _idle_second}
NAMES = (*EXAMPLES, *WORKER)
