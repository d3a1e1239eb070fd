"""What an index on the merchants' lines of the ledger costs a charge, for each index that could serve their list."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from statistics import median

from django.conf import settings

from payments.db.writes import execute_writes
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.ledger import movements
from payments.models import Attempt, Posting
from tests.client import Api, made
from tests.contract.calls import order
from tests.copies import Table, multiply
from tests.figures.money.server_use import measure_use, run_sql
from tests.high_limits import MANY_DECLINES
from tests.ledger.books import charge_fees

MERCHANTS = 10
CHARGES_EACH = 20
BATCH = 100
ACCOUNTS = ("merchant_pending", "merchant_payable", "merchant_reserve")
OF_MERCHANTS = f"account IN {ACCOUNTS}"
BY_CURRENCY = "merchant_id, livemode, currency"
# By name: the columns and the condition of each of its indexes. An existing one is the rule of one line per journal.
CANDIDATES: Mapping[str, Sequence[tuple[str, str]]] = {
    "nothing": (),
    "all lines": [("merchant_id, livemode, id", "true")],
    "three accounts": [("merchant_id, livemode, id", OF_MERCHANTS)],
    "three accounts, by account": [("merchant_id, livemode, account, id", OF_MERCHANTS)],
    "each account, by currency": [(f"{BY_CURRENCY}, id", f"account = '{account}'") for account in ACCOUNTS],
    "each account, by mode": [
        ("merchant_id, currency, id", f"account = '{account}' AND {mode}")
        for account in ACCOUNTS
        for mode in ("livemode", "NOT livemode")
    ],
    "journals": [("merchant_id, livemode, journal", f"{OF_MERCHANTS} AND line <= 2")],
    "journals of each account, by currency": [
        (f"{BY_CURRENCY}, journal", f"account = '{account}' AND line <= 2") for account in ACCOUNTS
    ],
}


def posting_indexes(postings: int, rounds: int, seed: int) -> dict[str, object]:
    """Measure PostgreSQL's CPU for a captured charge's journal with each candidate, beside `postings` of others.

    Each batch with a candidate follows one without, and the middle of their differences counts: whatever else the
    machine does then slows both down.
    """
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS, settings.RATE_LIMIT = ["testserver"], "100000/second"
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    shops = [create_merchant(f"Store {number}") for number in range(MERCHANTS)]
    for shop in shops:
        charge_fees(shop.merchant)
        for _ in range(CHARGES_EACH):
            Api(shop.keys["sk_test"]).charge()
    _drop_indexes()
    multiply(postings // Posting.objects.count(), [Table(Posting, ("id", "journal", "charge_id", "attempt_id"))])
    attempts = list(Attempt.objects.filter(kind="authorize").select_related("charge"))
    charge = _charge(shops)
    more, log, without = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list), []
    chance = Random(seed)
    for _ in range(rounds):
        for name in chance.sample(list(CANDIDATES), len(CANDIDATES)):
            sample = chance.sample(attempts, BATCH)
            before, bytes_before = _post(sample)
            _create(CANDIDATES[name])
            after, bytes_after = _post(sample)
            _drop(CANDIDATES[name])
            without.append(before)
            more[name].append(after / before - 1)
            log[name].append(bytes_after - bytes_before)
    share = median(without) / charge
    return {"charge_us": round(charge), "journal_us": round(median(without)), "journal_bytes": round(bytes_before)} | {
        name: {
            "more_of_a_journal_percent": round(100 * median(more[name]), 1),
            "more_of_a_charge_percent": round(100 * median(more[name]) * share, 1),
            "more_bytes_of_log": round(median(log[name])),
        }
        for name in CANDIDATES
    }


def _drop_indexes() -> None:
    """Drop those that serve the list now, so that every candidate starts from none."""
    for account in ACCOUNTS:
        run_sql(f"DROP INDEX posting_{account}")


def _create(indexes: Sequence[tuple[str, str]]) -> None:
    for number, (columns, condition) in enumerate(indexes):
        run_sql(f"CREATE INDEX candidate_{number} ON payments_posting ({columns}) WHERE {condition}")


def _drop(indexes: Sequence[tuple[str, str]]) -> None:
    for number, _ in enumerate(indexes):
        run_sql(f"DROP INDEX candidate_{number}")


def _charge(shops: Sequence[NewMerchant]) -> float:
    """Return PostgreSQL's CPU for a charge, in microseconds: the middle of some for each merchant."""
    used = []
    for api in [Api(shop.keys["sk_test"]) for shop in shops for _ in range(BATCH // MERCHANTS)]:
        body = order(api.source())
        used.append(measure_use(lambda body, api=api: made(api.post("/charges/", body)), [body]).cpu_us)
    return median(used)


def _post(attempts: Sequence[Attempt]) -> tuple[float, float]:
    """Post a journal for each; return PostgreSQL's CPU in microseconds and the bytes of its log for one."""
    used = measure_use(
        lambda attempt: execute_writes(movements.posted(movements.captured(10_000, 365), attempt)), attempts
    )
    return used.cpu_us, used.log_bytes
