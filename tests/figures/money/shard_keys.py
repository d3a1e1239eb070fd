"""What it costs a charge to have the merchant in every key, as an engine that shards by merchant needs it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from django.conf import settings
from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.providers import registry
from tests.client import Api, made
from tests.contract.calls import order
from tests.figures.money.charge_cost import FromMemory
from tests.figures.money.server_use import Use, measure_use, run_sql
from tests.high_limits import MANY_DECLINES
from tests.ledger.books import charge_fees
from tests.sharding.plan import KEYS
from tests.sharding.tables import OWNER, Kind, kinds, tables_of

# Unique indexes of tables of merchants, and those of them that have the merchant.
UNIQUE = """
SELECT count(*), count(*) FILTER (WHERE EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = %s AND a.attnum = ANY(i.indkey)
)) FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
WHERE i.indisunique AND NOT t.relispartition AND t.relname = ANY(%s)
"""
SIZE = """
SELECT sum(pg_relation_size(oid))::bigint, sum(pg_indexes_size(oid))::bigint
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
PLANS = ("as_it_is", "by_plan")


def shard_keys(charges: int, rounds: int) -> dict[str, object]:
    """Make `charges` with the keys as they are, and as many with those of the plan, in each of the `rounds`.

    The same database twice, on a connection each. A charge is captured, by a provider that answers from memory.
    """
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS, settings.RATE_LIMIT = ["testserver"], "100000/second"
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    registry.PROVIDERS[registry.SIMULATOR] = FromMemory()
    shop = create_merchant("Sari Store")
    charge_fees(shop.merchant)
    api, name = Api(shop.keys["sk_test"]), connection.settings_dict["NAME"]
    names = dict(zip(PLANS, (name, f"{name}_by_plan"), strict=True))
    connection.close()
    connection.close_pool()
    with _database("postgres"):
        run_sql(f"CREATE DATABASE {names['by_plan']} TEMPLATE {name}")
    with _database(names["by_plan"]):
        run_sql(KEYS.read_text())
    return _tables(names) | _costs(api, names, charges, rounds)


def _costs(api: Api, names: dict[str, str], charges: int, rounds: int) -> dict[str, object]:
    for name in names.values():
        with _database(name):
            # In production one process waits for the disk on behalf of many.
            run_sql("SET synchronous_commit = off")
            _charges(api, charges)
    before = {plan: _size(name) for plan, name in names.items()}
    uses: list[dict[str, Use]] = []
    for number in range(rounds):
        # Whichever is second finds the processor's caches as the first one left them.
        ordered = PLANS if number % 2 else PLANS[::-1]
        uses.append({plan: _measured(api, names[plan], charges) for plan in ordered})
    found: dict[str, object] = {
        plan: {
            "cpu_us": round(median(use[plan].cpu_us for use in uses)),
            "log_bytes": round(median(use[plan].log_bytes for use in uses)),
            "table_and_index_bytes": [
                round((now - then) / charges / rounds)
                for now, then in zip(_size(names[plan]), before[plan], strict=True)
            ],
        }
        for plan in PLANS
    }
    ratios = sorted(use["by_plan"].cpu_us / use["as_it_is"].cpu_us for use in uses)
    return found | {"ratio": [round(ratio, 3) for ratio in (ratios[0], median(ratios), ratios[-1])]}


@contextmanager
def _database(name: str) -> Iterator[None]:
    """Have all that is asked meanwhile be asked of the database of this name."""
    connection.close()
    before, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def _measured(api: Api, name: str, charges: int) -> Use:
    with _database(name):
        return _charges(api, charges)


def _charges(api: Api, count: int) -> Use:
    orders = [order(api.source()) for _ in range(count)]
    return measure_use(lambda body: made(api.post("/charges/", body, key=str(body["source"]))), orders)


def _size(name: str) -> tuple[int, int]:
    with _database(name):
        [(tables, indexes)] = run_sql(SIZE)
        return tables, indexes


def _tables(names: dict[str, str]) -> dict[str, object]:
    """Return how many tables there are of each kind, and how many unique indexes of merchants' have the merchant."""
    found: dict[str, object] = {
        "tables": {kind.value: len([1 for each in kinds().values() if each is kind]) for kind in Kind}
    }
    for plan, name in names.items():
        with _database(name), connection.cursor() as cursor:
            cursor.execute(UNIQUE, [OWNER, tables_of(Kind.MERCHANTS)])
            found[f"unique_indexes_and_with_merchant_{plan}"] = list(cursor.fetchone())
    return found
