"""The year, or a part of it: which scenario begins when at which merchant, and all of them run on a moved clock."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import cycle
from random import Random

from django.db import connection, transaction

from payments import clock
from payments.domain.maintenance import retention
from payments.ledger import account_days, settlement
from payments.ledger.settlement import next_settlement_at
from payments.ledger.transparency.append import append, append_missed
from payments.models import Merchant, Webhook
from payments.overview import day_totals
from payments.quickstart.demo import operator_scenarios, scenarios
from payments.quickstart.demo.business_hours import YEAR, moments
from payments.quickstart.demo.own_shop import OF_SHOP
from payments.quickstart.demo.payouts import pay_out_weekly
from payments.quickstart.demo.reports import Reports
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.scenarios import Scenario, Steps
from payments.quickstart.demo.shops import Shop, create_shops, pick
from payments.search import sweep
from payments.webhooks.attempt_rules import finished_attempt
from payments.webhooks.claims import RECORD, Claimed, FinishedAttempt
from payments.webhooks.transport.results import Answer, Failure, FailureKind

FEWEST = 50
# How long after midnight the worker settles.
SETTLEMENT_DELAY = timedelta(minutes=2)
SCENARIOS: Sequence[tuple[Scenario, float]] = (
    *((scenarios.paid, 62), (scenarios.vaulted, 6), (scenarios.declined, 7), (scenarios.abandoned, 3)),
    *((scenarios.part_captured, 4), (scenarios.hold_expired, 2), (scenarios.voided, 2)),
    *((scenarios.refunded, 3), (scenarios.part_refunded, 1.5), (scenarios.refund_returned, 0.5)),
    *((scenarios.found_approved, 0.6), (operator_scenarios.corrected, 0.2)),
    *((operator_scenarios.refund_approved, 0.8), (operator_scenarios.blocked, 0.1)),
)
# What is under way now, with the minutes ago at which it began, at least and at most.
UNDER_WAY: Sequence[tuple[Scenario, float, float]] = (
    *((scenarios.awaiting, 1, 50), (scenarios.awaiting, 1, 50), (scenarios.awaiting, 1, 50)),
    *((scenarios.unknown, 1, 5), (scenarios.unknown, 20, 90), (operator_scenarios.correction_proposed, 300, 900)),
    *((scenarios.refund_pending, 60, 600), (scenarios.refund_pending, 600, 2000)),
    *((scenarios.hold_expired, 7300, 10000), (scenarios.hold_expired, 9000, 10070)),
    *((operator_scenarios.refund_requested, 40, 300), (operator_scenarios.refund_requested, 60, 600)),
)
# What receivers answer now and then.
GONE = Answer(410, b"", 31, None)
NO_ANSWER = Failure(FailureKind.CONNECT_TIMEOUT, 3000)
Begin = tuple[datetime, Shop, Scenario]
Running = tuple[datetime, int, Steps]


def seed(
    charges: int,
    merchants: int,
    rng: Random,
    progress: Callable[[int], None],
    lasting: timedelta = YEAR,
    own: Merchant | None = None,
) -> Sequence[Shop]:
    """Make so many test charges, at least FEWEST, of the time until now, for so many new merchants; return these.

    The merchant `own`, if there is one, gets its part of the charges, and what else a shop does, after the others.

    `progress` is called with the number of further charges. Raise VaultUnavailable, and Busy where a reconciliation is
    under way; the demo is then not whole.
    """
    present = clock.now()
    start = present - lasting
    shops = create_shops(merchants, start, present, rng, own)
    chosen = choose_scenarios(charges - len(UNDER_WAY), rng)
    begins = [
        (moment, rng.choice(shops), scenario)
        for moment, scenario in zip(moments(len(chosen), start, present, rng), chosen, strict=True)
    ]
    for (scenario, fewest, most), shop in zip(UNDER_WAY, cycle(shops), strict=False):
        begins.append((present - timedelta(minutes=rng.uniform(fewest, most)), shop, scenario))
    if own:
        begins += [(present - timedelta(days=days), shops[-1], scenario) for scenario, days in OF_SHOP]
    for number, shop in enumerate(shops):
        if of_shop := [begin for begin in begins if begin[1] is shop]:
            run(of_shop, present, progress, returning=not number)
    _reconcile(Reports([shop.merchant.id for shop in shops], start, present, rng), shops[0])
    retention.delete_old_rows()
    for day in day_totals.every_day():
        day_totals.sum_up(day)
    account_days.rebuild()
    sweep.rebuild()
    append_missed(present - start)
    append(most_batches=None)
    _analyse()
    return shops


def choose_scenarios(count: int, rng: Random) -> list[Scenario]:
    """Return `count` scenarios in any order: each at least once, and all others by their weights."""
    chosen = [scenario for scenario, _ in SCENARIOS]
    chosen += [pick(rng, SCENARIOS) for _ in range(count - len(chosen))]
    rng.shuffle(chosen)
    return chosen


@transaction.atomic
def run(
    begins: Sequence[Begin],
    present: datetime,
    progress: Callable[[int], None] = lambda _: None,
    *,
    returning: bool = True,
) -> None:
    """Run scenarios until `present`, in the order in which they continue, with the worker's settlement at midnight.

    It is one transaction, so that no worker of the present finds the deadlines of the past: `seed` has one for each
    shop. The first money that is paid out comes back where it is `returning`.
    """
    in_order = sorted(begins, key=lambda begin: begin[0])
    shops = dict.fromkeys(shop for _, shop, _ in in_order)
    running: list[Running] = [
        (moment, number, _begun(scenario, shop, progress)) for number, (moment, shop, scenario) in enumerate(in_order)
    ]
    worker = [steps for shop in shops for steps in (_settle_every_midnight(shop), pay_out_weekly(shop, returning))]
    running += [(in_order[0][0], -number, steps) for number, steps in enumerate(worker, 1)]
    heapify(running)
    while running and running[0][0] < present:
        moment, number, steps = heappop(running)
        with clock.at(moment):
            continues_at = next(steps, None)
        if continues_at:
            heappush(running, (continues_at, number, steps))
    for shop in shops:
        _attempt_webhooks(shop, present)


def _attempt_webhooks(shop: Shop, present: datetime) -> None:
    """Make all attempts that were due before `present`, by the worker's rules and statement."""
    waiting = Webhook.objects.of(shop.merchant.id, livemode=False).filter(due_at__lt=present)
    while waiting.update(leased_until=present):
        made = [_attempt(shop, row, lease=present) for row in waiting.all()]
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [list(column) for column in zip(*made, strict=True)])


def _attempt(shop: Shop, row: Webhook, lease: datetime) -> FinishedAttempt:
    assert row.due_at  # nosec B101 # for the type checker
    claimed = Claimed(
        id=row.id,
        event_id=row.event_id,
        merchant_id=row.merchant_id,
        livemode=row.livemode,
        endpoint_id=row.endpoint_id,
        receiver=row.receiver,
        url=row.url,
        payload=b"",
        failures=row.failures,
        first_try_at=row.first_try_at,
        lease=lease,
    )
    result = _answer(shop, row.due_at)
    ended_at = row.due_at + timedelta(milliseconds=result.milliseconds)
    return finished_attempt(claimed, result, row.due_at, ended_at, shop.random.random())


def _answer(shop: Shop, moment: datetime) -> Answer | Failure:
    if any(start <= moment < end for start, end in shop.outages):
        return NO_ANSWER
    chance, milliseconds = shop.random.random(), round(shop.random.lognormvariate(4.4, 0.6))
    if chance < 0.0002:
        return GONE
    return Answer(503 if chance < 0.02 else 204, b"", milliseconds, None)


def _reconcile(reports: Reports, shop: Shop) -> None:
    """Reconcile the reports, each at its moment and in a transaction of its own."""
    monthly = reports.reconcile_monthly()
    moment = next(monthly, None)
    while moment:
        with clock.at(moment):
            moment = next(monthly, None)
    reports.reconcile_with_differences(shop.operators)


def _begun(scenario: Scenario, shop: Shop, progress: Callable[[int], None]) -> Steps:
    progress(1)
    yield from scenario(Sale(shop, shop.purchase()))


def _settle_every_midnight(shop: Shop) -> Steps:
    while True:
        yield next_settlement_at(clock.now()) + SETTLEMENT_DELAY
        settlement.settle_all_due(shop.scope)


def _analyse() -> None:
    """Have the planner know of so many new rows; of the tables of kaha alone, because others may be shared."""
    tables = ", ".join(map(connection.ops.quote_name, connection.introspection.django_table_names(only_existing=True)))
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
