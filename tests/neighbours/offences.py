"""The ways in which a merchant, a payer or anybody else misbehaves, or something that kaha needs fails.

Each is a context manager that takes the `Scene` and misbehaves until its block ends.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

from tests.neighbours import attacks
from tests.neighbours.flood import OFFENDER, Work, hold_sockets, hold_sockets_of_many, running
from tests.neighbours.logs import Log
from tests.neighbours.people import crowd_of_people, gather_people, hasty_assistant, strangers_at_sign_in
from tests.neighbours.servers import hanging_receivers, postgres_pids, redis_pid, slow_provider_url

if TYPE_CHECKING:
    # The names of the offences are known before Django's settings are.
    from payments.domain.merchants.merchants import NewMerchant

SOCKETS = 300
RECEIVERS, WEBHOOKS_OF_EACH = 90, 26
DUE_CHECKOUTS, DUE_TRIES = 3_000, 2_000
CROWD, OPERATORS, AUDIT_ENTRIES = 45, 20, 20_000
# The programs of a crowd do not begin at the same moment: each would wait for the burst of all.
CROWD_BEGINS_SECONDS = 9.0
EXPORT = "/admin/payments/auditentry/export/"
MADE_CHARGES, FILTERED_CHARGES = 20, 20_000


@dataclass
class Scene:
    """Who is there: the server at `url`, the merchant who misbehaves, its neighbour, and what they run on."""

    url: str
    offender: "NewMerchant"
    neighbour: "NewMerchant"
    # The path of the neighbour's link.
    link: str
    crowd: list["NewMerchant"]
    logs: Mapping[str, Log]
    # Cookies of operators.
    cookies: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def key(self) -> str:
        return self.offender.keys["sk_test"]

    def keys_of_crowd(self, kind: str = "sk_test") -> list[str]:
        return [one.keys[kind] for one in self.crowd]


@dataclass(frozen=True)
class Offence:
    """How somebody misbehaves: `begin` it, `prepare` it before, and the `environment` that the servers have then."""

    begin: Callable[[Scene], AbstractContextManager[None]]
    prepare: Callable[[Scene], None] = lambda scene: None
    environment: Callable[[], AbstractContextManager[Mapping[str, str]]] | None = None
    # Probes that nobody can be answered meanwhile.
    without: frozenset[str] = field(default_factory=frozenset)
    # Statuses that say what fails, beside those of success.
    tolerated: frozenset[int] = field(default_factory=frozenset)


def flood(scene: Scene, work: Work, per_second: int) -> AbstractContextManager[None]:
    """Do `work` so many times a second with the offender's key, whatever the answers."""
    return running(work, scene.url, scene.key, per_second)


def crowd(
    scene: Scene, work: Work, kind: str = "sk_test", begins_seconds: float = CROWD_BEGINS_SECONDS
) -> AbstractContextManager[None]:
    """45 merchants that each do `work`, with a second between."""
    return running(attacks.crowd, scene.url, scene.keys_of_crowd(kind), work, begins_seconds)


def slow_provider(scene: Scene, at_once: int = 0) -> AbstractContextManager[None]:
    """`at_once` charges and then 45 a second at a provider that takes 9 seconds."""
    return running(attacks.charge_wallet, scene.url, scene.offender.keys["sk_live"], 45, at_once)


def route_to_slow_provider(scene: Scene) -> None:
    """Give the offender a live account at Xendit, which the environment leads to the slow server."""
    _route_to_slow_provider(scene.offender)


def _route_to_slow_provider(offender: "NewMerchant") -> None:
    from payments.domain.routing.provider_accounts import open_account
    from payments.models import Route

    credentials = {"secret_key": f"xnd_production_{token_hex(16)}", "callback_token": token_hex(16)}
    account = open_account(offender.merchant, True, "xendit", "Slow", credentials, {})
    Route.objects.create(account=account, source_type="gcash", position=1)


@contextmanager
def hanging_webhooks(scene: Scene) -> Iterator[None]:
    """2,340 webhooks to 90 receivers that never answer, and 50 charges a second whose webhooks join them."""
    from payments import clock
    from tests.figures.webhooks.events import put_events

    with hanging_receivers(RECEIVERS) as urls:
        for url in urls:
            put_events(scene.offender.merchant, url, WEBHOOKS_OF_EACH, clock.now())
        with running(attacks.charge_with_notify, scene.url, scene.key, 50, urls):
            yield


def idle_sockets(scene: Scene, opening: bytes) -> AbstractContextManager[None]:
    """300 connections that send `opening` and nothing more."""
    return running(hold_sockets, SOCKETS, scene.port, opening)


def half_bodies_with_key(scene: Scene) -> AbstractContextManager[None]:
    """300 connections of a merchant whose bodies never end."""
    opening = attacks.half_body("/v2/charges/", f"Authorization: Bearer {scene.key}\r\n")
    return idle_sockets(scene, opening)


@contextmanager
def test_events(scene: Scene) -> Iterator[None]:
    """50 test events a second to an endpoint that takes connections and answers nothing."""
    with hanging_receivers(1) as [url], running(attacks.send_test_events, scene.url, scene.key, url, 50):
        yield


def many_reservations(scene: Scene) -> AbstractContextManager[None]:
    """Reserve 400 pieces of the neighbour's link 25 times a second, from one address."""
    return running(attacks.reserve, scene.url, scene.link, 25)


def reserve_all(scene: Scene) -> None:
    """Reserve from one address so often that nothing of the link is left where nothing bounds it."""
    from payments.domain.checkout import links
    from payments.domain.shared.errors import PaymentError

    link = links.link_of_page(scene.link.rpartition("/")[2])
    assert link
    for _ in range(25):
        with suppress(PaymentError):
            links.open_payment(link, [400], address=OFFENDER)


@contextmanager
def due_checkouts(scene: Scene) -> Iterator[None]:
    """3,000 sessions of one merchant whose time is over."""
    from payments import clock
    from payments.db.fast_model import copy_with
    from payments.ids import new_id
    from payments.models import Checkout
    from tests.checkout.cast import opened, row_of
    from tests.client import Api

    row = row_of(opened(Api(scene.key)))
    due = [copy_with(row, {"id": new_id(), "expires_at": clock.now()}) for _ in range(DUE_CHECKOUTS)]
    Checkout.objects.bulk_create(due, batch_size=500)
    yield


@contextmanager
def due_tries(scene: Scene) -> Iterator[None]:
    """2,000 requests of one merchant that are to charge a kept card now."""
    from payments.db.fast_model import copy_with
    from payments.ids import new_id
    from payments.models import Checkout, PaymentRequest
    from tests.checkout.cast import collected, row_of
    from tests.client import Api

    row = row_of(collected(Api(scene.key)))
    due = [copy_with(row, {"id": new_id()}) for _ in range(DUE_TRIES)]
    Checkout.objects.bulk_create(due, batch_size=500)
    requests = [copy_with(row.request, {"checkout_id": each.id, "place": place}) for place, each in enumerate(due, 2)]
    PaymentRequest.objects.bulk_create(requests, batch_size=500)
    yield


def public_key_flood(scene: Scene) -> AbstractContextManager[None]:
    """Ask 400 times a second with the neighbour's publishable key."""
    return running(attacks.read_source, scene.url, scene.neighbour.keys["pk_test"], 400)


def make_many_charges(scene: Scene) -> None:
    """Give the offender charges enough that a list which reads them all is slow."""
    from tests.figures.back_office.copied_charges import multiply_charges_of

    asyncio.run(attacks.make_charges(scene.url, scene.key, MADE_CHARGES))
    multiply_charges_of(scene.offender.merchant, FILTERED_CHARGES // MADE_CHARGES)


def gather_crowd(scene: Scene) -> None:
    """Make CROWD merchants, each of whom stays within its own share."""
    from payments.domain.merchants.merchants import create_merchant

    scene.crowd += [create_merchant(f"One of many {number}") for number in range(CROWD)]


def gather_crowd_at_slow_provider(scene: Scene) -> None:
    """Make CROWD merchants with accounts at the slow provider."""
    gather_crowd(scene)
    for one in scene.crowd:
        _route_to_slow_provider(one)


def gather_operators(scene: Scene) -> None:
    """Make OPERATORS who are signed in, and a long audit log."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from payments.domain.audit import audit_log

    for _ in range(AUDIT_ENTRIES // 1_000):
        audit_log.record_all(audit_log.Action.EXPORTED, [None] * 1_000, detail="one of many")
    for number in range(OPERATORS):
        client, name = Client(), settings.SESSION_COOKIE_NAME
        client.force_login(User.objects.create_superuser(f"operator{number}"))
        scene.cookies.append(f"{name}={client.cookies[name].value}")


@contextmanager
def few_threads() -> Iterator[Mapping[str, str]]:
    """Yield the environment of a server with fewer threads than the crowd has merchants."""
    yield {"WEB_THREADS": "40"}


@contextmanager
def few_threads_and_slow_provider() -> Iterator[Mapping[str, str]]:
    with few_threads() as threads, slow_provider_url() as provider:
        yield {**threads, **provider}


def crowd_of_slow_bodies(scene: Scene) -> AbstractContextManager[None]:
    """45 merchants that each have 10 bodies which never end."""
    openings = [attacks.half_body("/v2/charges/", f"Authorization: Bearer {key}\r\n") for key in scene.keys_of_crowd()]
    return running(hold_sockets_of_many, scene.port, openings, 10)


def crowd_of_exports(scene: Scene) -> AbstractContextManager[None]:
    """20 operators who each download the audit log and read it slowly."""
    return running(attacks.export, scene.url, EXPORT, scene.cookies, CROWD_BEGINS_SECONDS)


@contextmanager
def broken_logs(scene: Scene, end: str) -> Iterator[None]:
    """Close the reader of every log (`close`), or have it read nothing more (`pause`)."""
    for log in scene.logs.values():
        getattr(log, end)()
    try:
        yield
    finally:
        for log in scene.logs.values():
            log.read()


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """Have processes take connections and answer nothing, until the block ends."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


OFFENCES: dict[str, Offence] = {
    "hot_charge": Offence(partial(flood, work=attacks.refund_one_charge, per_second=20)),
    "slow_provider": Offence(slow_provider, route_to_slow_provider, slow_provider_url),
    "hanging_receivers": Offence(hanging_webhooks),
    "idle_headers": Offence(partial(idle_sockets, opening=b"POST /v2/charges/ HTTP/1.1\r\nHost: loc")),
    "idle_bodies": Offence(partial(idle_sockets, opening=attacks.half_body("/v2/charges/"))),
    "idle_webhook_bodies": Offence(partial(idle_sockets, opening=attacks.half_body(attacks.PROVIDER_WEBHOOK))),
    "half_bodies_with_key": Offence(half_bodies_with_key),
    "test_events": Offence(test_events),
    "many_reservations": Offence(many_reservations, reserve_all),
    "due_checkouts": Offence(due_checkouts),
    "due_tries": Offence(due_tries),
    "public_key_flood": Offence(public_key_flood),
    "page_flood": Offence(partial(flood, work=attacks.open_page, per_second=1000)),
    "decline_flood": Offence(partial(flood, work=attacks.charge_declined, per_second=60)),
    "waiting_requests": Offence(partial(flood, work=attacks.wait_for_events, per_second=60)),
    "impossible_filters": Offence(partial(flood, work=attacks.list_by_filters, per_second=40), make_many_charges),
    "hasty_assistant": Offence(hasty_assistant),
    "crowd_that_waits": Offence(partial(crowd, work=attacks.wait_once), gather_crowd, few_threads),
    "crowd_that_lists": Offence(partial(crowd, work=attacks.list_once), gather_crowd, few_threads),
    "crowd_at_slow_provider": Offence(
        partial(crowd, work=attacks.charge_wallet_once, kind="sk_live"),
        gather_crowd_at_slow_provider,
        few_threads_and_slow_provider,
    ),
    "crowd_of_slow_bodies": Offence(crowd_of_slow_bodies, gather_crowd, few_threads),
    "crowd_of_exports": Offence(crowd_of_exports, gather_operators, few_threads),
    "crowd_of_people": Offence(crowd_of_people, gather_people, few_threads),
    "strangers_at_sign_in": Offence(strangers_at_sign_in),
    "closed_log": Offence(partial(broken_logs, end="close")),
    "full_log": Offence(partial(broken_logs, end="pause")),
    # Workers are woken through Redis: webhooks go out once it is back.
    "hanging_redis": Offence(lambda _: stopped(redis_pid()), without=frozenset({"webhook", "end", "try"})),
    "hanging_postgres": Offence(
        lambda _: stopped(*postgres_pids()),
        without=frozenset({"list", "charge", "webhook", "sign_in", "buy", "end", "try"}),
        tolerated=frozenset({503}),
    ),
}
