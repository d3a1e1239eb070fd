"""Visits: when a payer's browser opened the pages of a charge, and from where; kept for 90 days for operators."""

import logging
from typing import Any
from uuid import UUID

from django.db import Error, connection

from payments import clock, context
from payments.models import PageVisit
from payments.models.charging.page_visit import ADDRESS_MAX_LENGTH

logger = logging.getLogger("kaha.visits")

# Rows per charge, one for each page, address and browser. Further ones are not recorded.
MOST_ROWS = 20

RECORD = """
INSERT INTO payments_pagevisit (merchant_id, charge_id, page, address, browser, times, first_at, last_at)
SELECT merchant_id, charge_id, %(page)s::text, %(address)s::text, %(browser)s::text, 1, %(now)s, %(now)s
FROM payments_attempt a WHERE id = %(attempt)s AND (
    SELECT count(*) FROM payments_pagevisit v
    WHERE (v.charge_id, v.merchant_id) = (a.charge_id, a.merchant_id)
        AND (v.page, v.address, v.browser) <> (%(page)s, %(address)s, %(browser)s)
) < %(most)s
ON CONFLICT (charge_id, merchant_id, page, address, browser)
DO UPDATE SET times = payments_pagevisit.times + 1, last_at = greatest(payments_pagevisit.last_at, excluded.last_at)
"""


def record_visit(attempt_id: UUID, page: PageVisit.Page, browser: str) -> None:
    """Count a visit of an attempt's payer to `page`. A database error is logged, and does not stop the payer."""
    actor = context.actor.get()
    address = actor().origin[:ADDRESS_MAX_LENGTH] if actor else ""
    visit: dict[str, Any] = {"attempt": attempt_id, "page": page.value, "address": address, "browser": browser}
    try:
        with connection.cursor() as cursor:
            cursor.execute(RECORD, {**visit, "most": MOST_ROWS, "now": clock.now()})
    except Error as error:
        logger.warning("A payer's visit was not recorded.", exc_info=error)
