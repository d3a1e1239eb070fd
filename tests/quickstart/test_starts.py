"""A first start, and those after it on the same data: how each ends, and the month of demo life that they make once."""

import json
import os
import re
import signal
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from payments.quickstart import month
from tests.admin.conftest import words_of
from tests.guides.texts import blocks_of
from tests.quickstart.quickstart_process import KEYS, Quickstart, manage, processes_of, sign_in
from tests.support.postgres import Postgres

pytestmark = pytest.mark.long

# Far more than the month takes, behind all else that a machine has to do.
MONTH_SECONDS = 600
DEMO = ("--json", "--demo")

# How many merchants there are beside the one that every start has; when the first charge was made; all their states.
MADE = """
SELECT count(*) - 1, (SELECT min(created_at) FROM payments_charge),
    array(SELECT DISTINCT status::text FROM payments_charge)
FROM payments_merchant
"""
# What the demo shop has: the states of its charges, payouts, disputes and payment requests; payments by its links.
OWN = """
SELECT array(SELECT DISTINCT status::text FROM payments_charge WHERE merchant_id = m.id),
    array(SELECT DISTINCT status::text FROM payments_payout WHERE merchant_id = m.id),
    array(SELECT DISTINCT status::text FROM payments_dispute WHERE merchant_id = m.id),
    array(SELECT DISTINCT state::text FROM payments_checkout WHERE merchant_id = m.id AND kind = 'request'),
    (SELECT sum(payments) FROM payments_paymentlink WHERE merchant_id = m.id)
FROM payments_merchant m WHERE title = 'Demo Shop'
"""


@dataclass(frozen=True)
class Ended:
    """A start that has ended, and what was seen of its month."""

    data: Path
    output: str
    exit_code: int
    errors: str
    made: tuple[Any, ...] = ()
    own: tuple[Any, ...] = ()
    dashboard: str = ""
    money: str = ""


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
    [made] = database.execute(MADE)
    database.stop()
    return Ended(first.data, output, *ended, made)


@pytest.fixture(scope="module")
def whole(cut: Ended) -> Ended:
    """Return the start after it, which made the month, and stopped when its Redis was killed."""
    quickstart = Quickstart(cut.data, *DEMO)
    quickstart.program.wait_until("is there after", MONTH_SECONDS)
    ready, database = quickstart.ready(), Postgres(cut.data)
    [made], [own] = database.execute(MADE), database.execute(OWN)
    with httpx2.Client(timeout=60) as browser:
        sign_in(browser, ready, "dashboard", "owner")
        dashboard = words_of(browser.get(ready["dashboard"]))
    money = manage(cut.data, "check_money")
    [redis] = [pid for pid, command in processes_of(cut.data).items() if "valkey-server" in command]
    os.kill(redis, signal.SIGKILL)
    return Ended(cut.data, quickstart.output, *quickstart.ended(), made, own, dashboard, money)


@pytest.fixture(scope="module")
def orphaned(whole: Ended) -> Ended:
    """Return the last start, whose parent was killed when it had found the month."""
    quickstart = Quickstart(whole.data, *DEMO, before=("sh", "-c", '"$@" & wait', "sh"))
    quickstart.program.wait_until("is there after", MONTH_SECONDS)
    [made] = Postgres(whole.data).execute(MADE)
    quickstart.program.send(signal.SIGKILL)
    return Ended(whole.data, quickstart.output, *quickstart.ended(), made)


def test_ctrl_c_ends_it_in_good_order(first: Ended) -> None:
    assert first.exit_code == 0


def test_a_person_is_shown_the_ten_lines_of_readme_and_what_to_do_next(first: Ended) -> None:
    [shown] = [block.code for block in blocks_of("README.md") if block.language == "text"]
    lines = list(filter(None, shown.splitlines()))
    assert len(lines) == 10
    others = "  Pay         http://127.0.0.1:8000/links/demo  card 4000", f"  Data        {first.data}  everything"
    for line in (*lines, *others):
        pattern = r"\S+".join(map(re.escape, line.split("…"))).replace(":8000/", r":\d+/")
        pattern = pattern.replace("42554e", "[0-9a-f]{6}")
        assert re.search(f"^{pattern}", first.output, re.MULTILINE), line


def test_nothing_is_coloured_where_nobody_looks_at_a_terminal(first: Ended) -> None:
    assert "\033" not in first.output


def test_a_command_finds_the_data_when_nothing_runs(first: Ended) -> None:
    listed = manage(first.data, "merchant", "list-keys")
    assert re.findall(r"sk_test_[0-9a-f]*([0-9a-f]{4})\b", first.output)[0] in listed


def test_a_later_start_has_the_same_keys(first: Ended, cut: Ended) -> None:
    ready = json.loads(cut.output)
    assert all(ready[name] in first.output for name in [*KEYS, "merchant", "admin_password", "owner_password"])


def test_a_month_that_is_cut_off_leaves_nothing(cut: Ended) -> None:
    assert (cut.exit_code, cut.made[0]) == (-signal.SIGKILL, 0)


def test_the_next_start_makes_the_month(whole: Ended) -> None:
    others, begin, states = whole.made
    assert others == month.MERCHANTS
    # Which other states there are depends on the hour.
    assert {"succeeded", "failed"} <= set(states)
    assert timedelta(days=24) < datetime.now(UTC) - begin < timedelta(days=31)


def test_the_books_of_the_month_are_right(whole: Ended) -> None:
    assert re.search(r"(\d+) of \1 hold", whole.money)


def test_the_demo_shop_has_a_month_of_its_own_that_its_owner_sees(whole: Ended) -> None:
    charges, payouts, disputes, requests, payments = whole.own
    assert ("succeeded" in charges, "paid" in payouts, "needs_response" in disputes) == (True, True, True)
    assert set(requests) == {"paid", "unpaid"}
    assert payments > 0
    words = ("Disputed", "unpaid for a week", "Card hold ends", "Next payout", "Today")
    assert [word for word in words if word not in whole.dashboard] == []


def test_it_stops_and_says_which_program_ended_by_itself(whole: Ended) -> None:
    assert whole.exit_code == 1
    assert "kaha: Redis ended by itself with exit code -9. The end of" in whole.errors


def test_it_ends_with_the_process_that_started_it(orphaned: Ended) -> None:
    assert processes_of(orphaned.data) == {}


def test_no_later_start_makes_a_second_month(orphaned: Ended) -> None:
    assert orphaned.made[0] == month.MERCHANTS
