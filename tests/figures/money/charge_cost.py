"""What a charge costs PostgreSQL: processor time and log of its connection beside the least SQL, and bytes by table."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.providers import registry
from payments.providers.base import Outcome, Payment
from payments.providers.simulator.answers import payment_outcome
from payments.providers.simulator.books import new_payment
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.scenarios import scenario_of
from tests.client import Api, made
from tests.contract.calls import order
from tests.figures.money.server_use import Use, measure_use, run_sql
from tests.high_limits import MANY_DECLINES
from tests.ledger.books import charge_fees

FLOOR = Path("tests/benchmark/floor.sql")
# Of all tables but those of sign-ins, by month or day as one.
SIZES = """
SELECT regexp_replace(relname, '_\\d{4}_\\d\\d(_\\d\\d)?$', ''), sum(pg_relation_size(oid))::bigint,
    sum(pg_indexes_size(oid))::bigint,
    sum(pg_total_relation_size(oid) - pg_relation_size(oid) - pg_indexes_size(oid))::bigint
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1
"""


class FromMemory(Simulator):
    """The simulator without its books: it approves each payment, and remembers none."""

    def create_payment(self, payment: Payment) -> Outcome:
        return payment_outcome(new_payment(payment, scenario_of(payment.card)))


def charge_cost(charges: int, rounds: int) -> dict[str, object]:
    """Measure `charges` of each kind in each of the `rounds`, one kind after the other, on one connection.

    The kinds are a captured charge by the simulator, one by a provider that answers from memory, and the least SQL of
    a durable charge; the charge from memory runs twice, which shows the noise. Sizes are of all charges and sources.
    """
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS, settings.RATE_LIMIT = ["testserver"], "100000/second"
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    shop = create_merchant("Sari Store")
    charge_fees(shop.merchant)
    run_sql(FLOOR.read_text())
    # In production one process waits for the disk on behalf of many.
    run_sql("SET synchronous_commit = off")
    api = Api(shop.keys["sk_test"])
    kinds: dict[str, Callable[[], Use]] = {
        "simulator": lambda: _charges(api, Simulator(), charges),
        "memory": lambda: _charges(api, FromMemory(), charges),
        "memory_again": lambda: _charges(api, FromMemory(), charges),
        "least": lambda: _least(charges),
    }
    for measure in kinds.values():
        measure()
    before = table_sizes()
    uses = [{name: measure() for name, measure in kinds.items()} for _ in range(rounds)]
    return _summary(uses) | {"bytes_of_a_charge": _grown(before, 3 * charges * rounds)}


def _summary(uses: list[dict[str, Use]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in uses[0]:
        ratios = sorted(use[name].cpu_us / use["least"].cpu_us for use in uses)
        found[name] = {
            "cpu_us": round(median(use[name].cpu_us for use in uses)),
            "log_bytes": round(median(use[name].log_bytes for use in uses)),
            "of_least": [round(ratio, 2) for ratio in (ratios[0], median(ratios), ratios[-1])],
        }
    noise = median(use["memory_again"].cpu_us / use["memory"].cpu_us for use in uses)
    return found | {"noise": round(noise, 3)}


def _charges(api: Api, provider: Simulator, count: int) -> Use:
    """Charge `count` new sources at `provider`."""
    registry.PROVIDERS[registry.SIMULATOR] = provider
    orders = [order(api.source()) for _ in range(count)]
    return measure_use(lambda body: made(api.post("/charges/", body, key=str(uuid4()))), orders)


def _least(count: int) -> Use:
    run_sql(
        "INSERT INTO floor.source (merchant_id, livemode, card)"
        f" SELECT merchant_id, livemode, repeat('x', 300) FROM floor.api_key, generate_series(1, {count})"
    )
    sources = run_sql(f"SELECT id FROM floor.source ORDER BY id DESC LIMIT {count}")
    return measure_use(_durable_charge, [source for (source,) in sources])


def _durable_charge(source: int) -> None:
    """Note what is done before the provider is asked, and what comes of it, each committed."""

    def run(sql: str, *params: object) -> UUID:
        found = connection.connection.execute(sql, params, prepare=True)
        return found.fetchone()[0] if found.description else source

    run("BEGIN")
    merchant = run("SELECT merchant_id FROM floor.api_key WHERE digest = 'key'")
    run("UPDATE floor.source SET used = true WHERE id = %s::bigint AND NOT used RETURNING id", source)
    charge = run(
        "INSERT INTO floor.charge (merchant_id, livemode, source_id, amount, currency, description)"
        " VALUES (%s, false, %s::bigint, 1000, 'PHP', 'Order 1001') RETURNING id",
        merchant,
        source,
    )
    run("INSERT INTO floor.event (charge_id, payload) VALUES (%s, repeat('x', 1000))", charge)
    run(
        "INSERT INTO floor.idempotency (merchant_id, livemode, key, charge_id) VALUES (%s, false, %s::uuid::text, %s)",
        merchant,
        charge,
        charge,
    )
    run("COMMIT")
    run("BEGIN")
    run("UPDATE floor.charge SET status = 'succeeded' WHERE id = %s AND status = 'pending'", charge)
    run(
        "INSERT INTO floor.ledger (charge_id, account, amount) VALUES (%s, 'receivable', 1000), (%s, 'pending', -1000)",
        charge,
        charge,
    )
    run("INSERT INTO floor.outbox (charge_id) VALUES (%s)", charge)
    run("COMMIT")


def table_sizes() -> Mapping[str, tuple[int, int, int]]:
    return {table: tuple(sizes) for table, *sizes in run_sql(SIZES)}


def _grown(before: Mapping[str, tuple[int, int, int]], charges: int) -> dict[str, list[int]]:
    """Return by how much each table grew for one charge: its rows, its indexes, and the rest."""
    grown = {
        table: [round((new - old) / charges) for new, old in zip(sizes, before.get(table, (0, 0, 0)), strict=True)]
        for table, sizes in table_sizes().items()
    }
    found = {table: parts for table, parts in sorted(grown.items(), key=lambda item: -sum(item[1])) if sum(parts)}
    return found | {"all": [sum(parts) for parts in zip(*found.values(), strict=True)]}
