"""A first start, and those after it on the same data: how each ends, and the month of demo life that they make once."""

import json
import os
import re
import signal
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from payments.quickstart import month
from tests.admin.conftest import words_of
from tests.quickstart.quickstart_process import (
    KEYS,
    Quickstart,
    manage,
    processes_of,
    sign_in,
)
from tests.support.postgres import Postgres

pytestmark = pytest.mark.long

# Far more than the month takes, behind all else that a machine has to do.
MONTH_SECONDS = 600
DEMO = ("--json", "--demo")

# How many merchants there are beside the one that every start has; when the first charge of all was made; their states.
OTHERS = "SELECT count(*) FROM payments_merchant WHERE title <> 'Demo Shop'"
BEGIN = "SELECT min(created_at) FROM payments_charge"
STATES = "SELECT array_agg(DISTINCT status::text) FROM payments_charge"
# What the demo shop has: the states of its charges, payouts, disputes and payment requests; payments by its links.
OWN = """
SELECT (SELECT array_agg(DISTINCT status::text) FROM payments_charge WHERE merchant_id = m.id AND NOT livemode),
    (SELECT array_agg(DISTINCT status::text) FROM payments_payout WHERE merchant_id = m.id AND NOT livemode),
    (SELECT array_agg(DISTINCT status::text) FROM payments_dispute WHERE merchant_id = m.id AND NOT livemode),
    (SELECT array_agg(DISTINCT state::text) FROM payments_checkout
        WHERE merchant_id = m.id AND NOT livemode AND kind = 'request'),
    (SELECT sum(payments) FROM payments_paymentlink WHERE merchant_id = m.id AND NOT livemode)
FROM payments_merchant m WHERE title = 'Demo Shop'
"""


@dataclass(frozen=True)
class Ended:
    """A start that has ended, and how."""

    data: Path
    output: str
    exit_code: int
    errors: str
    # How many merchants there were then beside the demo shop.
    others: int = 0


@dataclass(frozen=True)
class Month:
    """What was seen of a month of demo life, and the start that made it."""

    ended: Ended
    begin: datetime
    states: list[str]
    own: tuple[Any, ...]
    dashboard: str
    money: str


@pytest.fixture(scope="module")
def first(data: Path) -> Ended:
    """Return a first start, read by a person and ended by Ctrl-C."""
    quickstart = Quickstart(data)
    output = quickstart.read_until("limit=2")
    quickstart.program.send(signal.SIGINT)
    return Ended(data, output, *quickstart.ended())


@pytest.fixture(scope="module")
def cut(first: Ended) -> Ended:
    """Return the next start, killed while it makes the month."""
    quickstart = Quickstart(first.data, *DEMO)
    log = first.data / "logs" / "month.log"
    quickstart.program.wait_until(lambda: log.exists() and "charges" in log.read_text())
    quickstart.program.send(signal.SIGKILL)
    output, ended, database = quickstart.output, quickstart.ended(), Postgres(first.data)
    database.start()
    others = value(database, OTHERS)
    database.stop()
    return Ended(first.data, output, *ended, others)


@pytest.fixture(scope="module")
def whole(cut: Ended) -> Month:
    """Return the start after it, which made the month, and stopped when its Redis was killed."""
    quickstart = Quickstart(cut.data, *DEMO)
    quickstart.program.wait_until("is there after", MONTH_SECONDS)
    ready, database = quickstart.ready(), Postgres(cut.data)
    begin, states, others = (value(database, query) for query in (BEGIN, STATES, OTHERS))
    [own] = database.execute(OWN)
    with httpx.Client(timeout=60) as browser:
        sign_in(browser, ready, "dashboard", "owner")
        dashboard = words_of(browser.get(ready["dashboard"]))
    money = manage(cut.data, "check_money")
    [redis] = [pid for pid, command in processes_of(cut.data).items() if "valkey-server" in command]
    os.kill(redis, signal.SIGKILL)
    ended = Ended(cut.data, quickstart.output, *quickstart.ended(), others)
    return Month(ended, begin, states, own, dashboard, money)


@pytest.fixture(scope="module")
def orphaned(whole: Month) -> Ended:
    """Return the last start, whose parent was killed when it had found the month."""
    data = whole.ended.data
    quickstart = Quickstart(data, *DEMO, before=("sh", "-c", '"$@" & wait', "sh"))
    quickstart.program.wait_until("is there after", MONTH_SECONDS)
    others = value(Postgres(data), OTHERS)
    quickstart.program.send(signal.SIGKILL)
    return Ended(data, quickstart.output, *quickstart.ended(), others)


def value(database: Postgres, query: str) -> Any:
    [[found]] = database.execute(query)
    return found


def test_ctrl_c_ends_it_in_good_order(first: Ended) -> None:
    assert first.exit_code == 0


def test_a_person_is_shown_a_payment_and_what_to_do_next(first: Ended) -> None:
    for shown in (
        r"POST  /v2/sources/ +200  ",
        r"POST  /v2/charges/ +201  PHP 1,250\.00 held",
        r"POST  /v2/charges/ch_\.\.\.[0-9a-f]{6}/capture +200  PHP 1,250\.00 taken",
        r"POST  /v2/charges/ch_\.\.\.[0-9a-f]{6}/refund +200  PHP 250\.00 given back, PHP 1,000\.00 kept",
        r"GET   /v2/charges/\?limit=100 +200  1 charge so far",
        r"Start here +http://127\.0\.0\.1:\d+/\n",
        r"Back office +http://127\.0\.0\.1:\d+/admin/  user admin, password \S+",
        r"Dashboard +http://127\.0\.0\.1:\d+/merchant/  user owner, password \S+",
        r"Pay +http://127\.0\.0\.1:\d+/links/demo  card 4000 0000 0000 3055",
        rf"Data +{first.data}  everything\n",
    ):
        assert re.search(shown, first.output)


def test_nothing_is_coloured_where_nobody_looks_at_a_terminal(first: Ended) -> None:
    assert "\033" not in first.output


def test_a_command_finds_the_data_when_nothing_runs(first: Ended) -> None:
    listed = manage(first.data, "merchant", "list-keys")
    assert re.findall(r"sk_test_[0-9a-f]*([0-9a-f]{4})\b", first.output)[0] in listed


def test_a_later_start_has_the_same_keys(first: Ended, cut: Ended) -> None:
    ready = json.loads(cut.output)
    assert all(ready[name] in first.output for name in [*KEYS, "merchant", "admin_password", "owner_password"])


def test_a_month_that_is_cut_off_leaves_nothing(cut: Ended) -> None:
    assert (cut.exit_code, cut.others) == (-signal.SIGKILL, 0)


def test_the_next_start_makes_the_month(whole: Month) -> None:
    assert whole.ended.others == month.MERCHANTS
    # Which other states there are depends on the hour.
    assert {"succeeded", "failed"} <= set(whole.states)
    assert timedelta(days=24) < datetime.now(UTC) - whole.begin < timedelta(days=31)


def test_the_books_of_the_month_are_right(whole: Month) -> None:
    assert re.search(r"(\d+) of \1 hold", whole.money)


def test_the_demo_shop_has_a_month_of_its_own_that_its_owner_sees(whole: Month) -> None:
    charges, payouts, disputes, requests, payments = whole.own
    assert "succeeded" in charges
    assert "paid" in payouts
    assert "needs_response" in disputes
    assert set(requests) == {"paid", "unpaid"}
    assert payments > 0
    words = ("Disputed", "unpaid for a week", "Card hold ends", "Next payout", "Today")
    assert [word for word in words if word not in whole.dashboard] == []


def test_it_stops_and_says_which_program_ended_by_itself(whole: Month) -> None:
    assert whole.ended.exit_code == 1
    assert "kaha: Redis ended by itself with exit code -9. The end of" in whole.ended.errors


def test_it_ends_with_the_process_that_started_it(orphaned: Ended) -> None:
    assert processes_of(orphaned.data) == {}


def test_no_later_start_makes_a_second_month(orphaned: Ended) -> None:
    assert orphaned.others == month.MERCHANTS
