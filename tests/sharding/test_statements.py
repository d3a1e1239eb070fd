"""That a statement which crosses shards is found, for otherwise its absence would prove nothing."""

from uuid import UUID

import pytest

from tests.sharding.statements import crossing

ONE, OTHER = UUID(int=1), UUID(int=2)
BOUND = {
    "by a value": f"SELECT * FROM payments_charge WHERE id = '{OTHER}' AND merchant_id = '{ONE}'::uuid",
    "by another table": f"""
        SELECT * FROM payments_charge c JOIN payments_source s ON (s.id, s.merchant_id) = (c.source_id, c.merchant_id)
        WHERE c.merchant_id = '{ONE}'
    """,
    "by the query around": f"""
        SELECT * FROM payments_charge c WHERE c.merchant_id = '{ONE}' AND EXISTS (
            SELECT FROM payments_attempt a WHERE a.charge_id = c.id AND a.merchant_id = c.merchant_id
        )
    """,
    "rows of one merchant": f"INSERT INTO payments_posting (id, merchant_id) VALUES (1, '{ONE}'), (2, '{ONE}')",
    "rows of a query": f"""
        INSERT INTO payments_attempt (id, merchant_id) SELECT id, merchant_id FROM payments_charge
        WHERE merchant_id = '{ONE}'
    """,
    "each part of a statement": f"""
        WITH w0 AS (UPDATE payments_charge SET version = 2 WHERE id = '{OTHER}' AND merchant_id = '{ONE}' RETURNING 1),
        w1 AS (INSERT INTO payments_event (id, merchant_id) VALUES ('{OTHER}', '{ONE}'))
        SELECT 1 / (CASE WHEN (SELECT 1 FROM w0) IS NOT NULL THEN 1 ELSE 0 END)
    """,
    "what is no merchant's": "SELECT * FROM payments_apikey WHERE digest = 'x'",
}
CROSSING = {
    "an ID alone": (f"SELECT * FROM payments_charge WHERE id = '{OTHER}'", ["payments_charge"]),
    "the merchant of something else": (
        f"SELECT * FROM payments_charge c, payments_source s WHERE s.id = c.source_id AND c.merchant_id = '{ONE}'",
        ["payments_source"],
    ),
    "one merchant or another": (
        f"SELECT * FROM payments_charge WHERE merchant_id = '{ONE}' OR merchant_id = '{OTHER}'",
        ["payments_charge"],
    ),
    "some merchants": (f"SELECT * FROM payments_charge WHERE merchant_id IN ('{ONE}')", ["payments_charge"]),
    "a range that begins with the merchant": (
        f"SELECT * FROM payments_charge WHERE (merchant_id, id) < ('{ONE}', '{OTHER}')",
        ["payments_charge"],
    ),
    "two merchants": (
        f"""WITH a AS (UPDATE payments_charge SET version = 2 WHERE merchant_id = '{ONE}'),
        b AS (UPDATE payments_source SET version = 2 WHERE merchant_id = '{OTHER}') SELECT 1""",
        ["payments_charge", "payments_source"],
    ),
    "rows of two merchants": (
        f"INSERT INTO payments_posting (id, merchant_id) VALUES (1, '{ONE}'), (2, '{OTHER}')",
        ["payments_posting"],
    ),
    "rows of a query of all": (
        "INSERT INTO payments_attempt (id, merchant_id) SELECT id, merchant_id FROM payments_charge",
        ["payments_attempt", "payments_charge"],
    ),
    "a part of a statement": (
        f"""WITH w0 AS (UPDATE payments_charge SET version = 2 WHERE id = '{OTHER}' RETURNING 1),
        w1 AS (INSERT INTO payments_event (id, merchant_id) VALUES ('{OTHER}', '{ONE}')) SELECT 1 FROM w0""",
        ["payments_charge"],
    ),
}


@pytest.mark.parametrize("text", BOUND.values(), ids=BOUND)
def test_what_names_one_merchant_is_for_one_server(text: str) -> None:
    assert crossing(text) == []


@pytest.mark.parametrize(("text", "tables"), CROSSING.values(), ids=CROSSING)
def test_what_does_not_is_for_every_server(text: str, tables: list[str]) -> None:
    assert crossing(text) == tables
