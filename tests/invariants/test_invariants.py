"""Each invariant holds after a busy history and in a running service, and finds the row that breaks it."""

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.charging import recovery
from payments.domain.checkout import card_checks, links
from payments.invariants import checks as checking
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.ledger import settlement
from payments.models import Attempt, Charge, Checkout, MoneyCheck
from payments.tasks import run_sweep
from tests.charging.elapsed_time import let_time_pass
from tests.checkout import cast, shelf
from tests.client import ANSWER_LOST, APPROVED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.concurrency import at_once
from tests.invariants import breakages_of_events, breakages_of_features  # noqa: F401  more
from tests.invariants.breakages import BREAKAGES
from tests.invariants.coverage import unseen_events, unseen_kinds
from tests.invariants.history import History


def broken() -> dict[str, list[str]]:
    """Return the IDs of the offenders of each broken invariant."""
    found = {invariant.name: check(invariant) for invariant in INVARIANTS}
    return {name: list(finding.ids) for name, finding in found.items() if finding.count}


def test_all_invariants_hold_after_a_busy_history(history: History) -> None:
    assert broken() == {}


def test_the_history_has_every_kind_state_event_and_verb(history: History) -> None:
    unseen = unseen_kinds() | unseen_events() | history.api.unseen_verbs()
    assert not unseen, "\n".join(sorted(unseen))


@pytest.mark.long
@pytest.mark.parametrize("name", [invariant.name for invariant in INVARIANTS])
def test_each_breakage_is_found_with_its_consequences_only(name: str, history: History) -> None:
    breakage = BREAKAGES[name]
    drop_all_constraints()
    offender = breakage.do(history)
    found = broken()
    assert found.keys() == {name} | breakage.also
    assert found[name] == [offender]


SHOPS = 4
SWEEPER, CHECKER = SHOPS, SHOPS + 1
ROUNDS = 1
CARDS = (APPROVED, REFUNDS_FAIL, REFUNDS_WAIT, ANSWER_LOST, NEVER_ARRIVES)


def sell(api: Api, number: str) -> None:
    """Charge, hold, refund in part and in whole, vault a source and detach it, check out, as far as the card allows."""
    taken, voided, held, released = api.charge(number), api.charge(number), api.held(number=number), api.held()
    api.post(f"/charges/{held['id']}/capture", {"amount": 6_000})
    for charge in (taken, held):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000})
        api.post(f"/charges/{charge['id']}/refund")
    for charge in (voided, released):
        api.post(f"/charges/{charge['id']}/void")
    customer = made(api.post("/customers/", {"email": "juan@example.com", "description": "Juan"}))["id"]
    source = api.source(number)
    made(api.post(f"/customers/{customer}/sources", {"source": source}))
    api.charge_source(source)
    made(api.delete(f"/customers/{customer}/sources/{source}"))
    check_out(api, number, customer)


def check_out(api: Api, number: str, customer: str) -> None:
    """Sell by sessions in all modes, by a request and by a link; end what is not paid, capture what is held."""
    keeping = {"customer": customer}
    modes = ({}, cast.SETUP, cast.SUBSCRIPTION | keeping)
    sessions = [cast.opened(api, **mode) for mode in modes]
    requests = [cast.billed(api, **keeping) for _ in range(2)]
    for each in (*sessions, requests[0]):
        cast.pay(each, number)
    cast.save(cast.opened(api, **cast.SAVE_CARD, **keeping), number)
    api.post(f"/checkout_sessions/{sessions[1]['id']}/capture")
    api.post(f"/checkout_sessions/{sessions[0]['id']}/expire")
    made(api.post(f"/payment_requests/{requests[1]['id']}/void", {"reason": "Ordered twice"}))
    link = shelf.linked(api)
    shelf.pay(shelf.open_payment(link, 1, 0), number)
    shelf.open_payment(link, 0, 1)


def sweep() -> None:
    """Run the worker's tasks with all deadlines due; requests under way are left to their process."""
    left = Attempt.objects.filter(state__in=[Attempt.State.UNKNOWN, Attempt.State.WAITING])
    left.update(due_at=clock.now())
    recovery.resolve_due()
    Checkout.objects.filter(check_due_at__isnull=False).update(check_due_at=clock.now())
    card_checks.resolve_due()
    links.close_due()
    run_sweep("apply_simulator_messages")
    let_time_pass(Charge, "settle_due_at")
    settlement.settle_due()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_running_service_raises_no_false_alarm(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    open_shops = set(range(SHOPS))

    def act(number: int) -> list[MoneyCheck]:
        checks = []
        if number in range(SHOPS):
            for card in CARDS * ROUNDS:
                sell(Api(api.key), card)
            open_shops.remove(number)
        while open_shops and number == SWEEPER:
            sweep()
        while open_shops and number == CHECKER:
            checks.append(checking.run(INVARIANTS))
        return checks

    checks = at_once(SHOPS + 2, act)[CHECKER]
    assert len(checks) > 1
    assert [check.failures for check in checks if check.failures] == []
    assert checking.run(INVARIANTS).failures == []
    assert {"succeeded", "failed", "voided", "refunded"} <= set(Charge.objects.values_list("status", flat=True))


OURS = "LIKE ANY (ARRAY['payments_%', 'simulator_%', 'customers_%'])"
CHECKS = f"""
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
FROM pg_constraint WHERE contype IN ('c', 'u') AND coninhcount = 0 AND conrelid::regclass::text {OURS}
"""
UNIQUE_INDEXES = f"""
SELECT format('DROP INDEX %s', indexrelid::regclass)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE NOT relispartition AND indisunique AND NOT indisprimary AND indrelid::regclass::text {OURS}
"""


def drop_all_constraints() -> None:
    """Disable every check, unique index, foreign key and trigger of our tables."""
    with connection.cursor() as cursor:
        # Deferred checks would prevent dropping the constraints.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # Foreign keys are triggers too.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for rules in (CHECKS, UNIQUE_INDEXES):
            cursor.execute(rules)
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)
