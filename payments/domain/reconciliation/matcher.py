"""Matching of report lines with our postings, and the differences that remain: whole sets at a time, in SQL.

Both sides use one vocabulary of movements. A line and a posting match where attempt, movement, currency and amount are
the same, one to one. Everything here runs in the caller's transaction.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from payments.concurrency.connections import allow_long_statements
from payments.models import Attempt, Dispute, Payout, ReconciliationRun
from payments.providers.settlement_reports import SettlementLine
from payments.sensitive_data.card_numbers import holds_card_number
from payments.sensitive_data.plain_text import plain, unescaped

# The charges that are looked at; None for all.
Charges = Sequence[UUID] | None

STORE = """
INSERT INTO payments_reportline
    (run_id, number, provider, reference, provider_ref, kind, word, amount, currency, booked_at, nth, attempt_id)
SELECT %(run)s, coalesce(nullif(line.file_line, 0), %(before)s + line.number), %(provider)s, line.reference,
    line.provider_ref, line.kind, line.word, line.amount, line.currency, line.booked_at, line.nth, a.id
FROM unnest(%(references)s::text[], %(provider_refs)s::text[], %(kinds)s::text[], %(words)s::text[],
    %(amounts)s::bigint[], %(currencies)s::text[], %(moments)s::timestamptz[], %(nths)s::int[], %(file_lines)s::int[])
    WITH ORDINALITY AS line
        (reference, provider_ref, kind, word, amount, currency, booked_at, nth, file_line, number)
LEFT JOIN payments_attempt a ON a.provider = %(provider)s
    AND a.id = CASE WHEN line.reference ~ '^[0-9a-f]{32}$' THEN line.reference::uuid END
ORDER BY line.number
ON CONFLICT DO NOTHING
"""
# After a restore, an attempt that we had lost may be made again later than its line was read.
FIND_REBUILT = """
UPDATE payments_reportline l SET attempt_id = a.id FROM payments_attempt a
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.attempt_id IS NULL
    AND a.provider = l.provider
    AND a.id = CASE WHEN l.reference ~ '^[0-9a-f]{32}$' THEN l.reference::uuid END
"""
# Late money that cannot be voided is refunded, under a reference derived from the reversal's.
FIND_REVERSALS = """
UPDATE payments_reportline l SET attempt_id = a.id FROM payments_attempt a
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.attempt_id IS NULL AND l.provider_ref <> ''
    AND a.kind = 'reverse' AND a.provider = l.provider AND a.provider_ref = l.provider_ref
"""
# A report may lack a name that we gave; then the provider's own leads to our attempt of that kind.
FIND_BY_PROVIDER_REF = """
UPDATE payments_reportline l SET attempt_id = (
    SELECT a.id FROM payments_attempt a
    WHERE a.provider = l.provider AND a.provider_ref = l.provider_ref AND (a.kind, l.kind) IN (
        ('authorize', 'capture'), ('capture', 'capture'), ('void', 'void'), ('refund', 'refund'),
        ('refund', 'refund_returned'), ('authorize', 'dispute'), ('authorize', 'dispute_won')
    )
    ORDER BY a.id LIMIT 1
)
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.attempt_id IS NULL
    AND NOT l.reference ~ '^[0-9a-f]{32}$' AND l.provider_ref <> ''
"""
# A chargeback may be reported under the provider's name of the dispute.
FIND_DISPUTES = """
UPDATE payments_reportline l SET attempt_id = a.id
FROM payments_dispute d JOIN payments_attempt a
    ON a.charge_id = d.charge_id AND a.kind = 'authorize' AND NOT a.passed_on
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.attempt_id IS NULL
    AND l.kind IN ('dispute', 'dispute_won') AND d.provider_ref IN (l.reference, l.provider_ref)
    AND a.provider = l.provider
"""
# Some providers report a capture under the reference of its payment.
FIND_CAPTURES = """
UPDATE payments_reportline l SET attempt_id = c.id
FROM payments_attempt a JOIN payments_attempt c ON c.charge_id = a.charge_id AND c.kind = 'capture'
    AND c.outcome IN ('Approved', 'LateApproved') AND c.route_id IS NOT DISTINCT FROM a.route_id
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.kind = 'capture'
    AND a.id = l.attempt_id AND a.kind = 'authorize'
"""
# And a refund under the reference of its payment, where ours is not repeated.
FIND_REFUNDS = """
UPDATE payments_reportline l SET attempt_id = r.id
FROM payments_attempt a JOIN payments_attempt r ON r.charge_id = a.charge_id AND r.kind = 'refund'
    AND r.provider = a.provider
WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.kind IN ('refund', 'refund_returned')
    AND a.id = l.attempt_id AND a.kind = 'authorize' AND r.provider_ref = l.provider_ref AND l.provider_ref <> ''
"""
LINES = """
line AS MATERIALIZED (
    SELECT l.id, l.attempt_id, l.kind, l.word, l.currency, l.amount, l.booked_at,
        a.kind AS asked, a.state, a.charge_id,
        CASE WHEN a.kind = 'reverse' AND l.kind IN ('void', 'refund') THEN 'reversal' ELSE l.kind END AS movement
    FROM payments_reportline l LEFT JOIN payments_attempt a ON a.id = l.attempt_id
    WHERE l.provider = %(provider)s AND l.matched_at IS NULL AND l.kind <> 'payout' {lines_among}
)
"""
MOVEMENT = """CASE p.kind WHEN 'late' THEN 'capture' WHEN 'refund_settled' THEN 'refund'
            WHEN 'refund_failed' THEN 'refund_returned' ELSE p.kind END"""
POSTINGS = f"""
posting AS MATERIALIZED (
    SELECT p.id, p.attempt_id, p.charge_id, p.currency, p.amount, p.created_at, {MOVEMENT} AS movement
    FROM payments_posting p JOIN payments_attempt a ON a.id = p.attempt_id AND a.provider = %(provider)s
    WHERE p.account = 'provider_receivable' {{postings_among}}
        AND NOT EXISTS (SELECT FROM payments_reportline m WHERE m.posting_id = p.id)
)
"""  # nosec B608 # no value in it
# The postings of unmatched lines' attempts that other lines have.
TAKEN = f"""
taken AS MATERIALIZED (
    SELECT DISTINCT ON (p.attempt_id, 3) p.id, p.attempt_id, {MOVEMENT} AS movement
    FROM payments_posting p JOIN payments_reportline m ON m.posting_id = p.id
    WHERE p.account = 'provider_receivable' AND (p.charge_id, p.attempt_id) IN (SELECT charge_id, attempt_id FROM line)
    ORDER BY p.attempt_id, 3, p.id
)
"""  # nosec B608 # no value in it
# Equal rows are matched in their order.
NTH = "row_number() OVER (PARTITION BY attempt_id, movement, currency, amount ORDER BY id) AS nth"
MATCH = f"""
WITH {LINES}, {POSTINGS}, numbered_line AS (SELECT *, {NTH} FROM line WHERE asked IS NOT NULL),
numbered_posting AS (SELECT *, {NTH} FROM posting)
UPDATE payments_reportline l SET posting_id = p.id, matched_at = %(now)s
FROM numbered_line n JOIN numbered_posting p USING (attempt_id, movement, currency, amount, nth)
WHERE l.id = n.id
"""  # nosec B608 # no value in it
# Where a refund failed before we learned of its success, the provider reports both movements and our ledger neither.
CANCEL_OUT = f"""
WITH {LINES}, nothing AS (
    SELECT attempt_id, currency FROM line
    WHERE asked = 'refund' AND state = 'done' AND kind IN ('refund', 'refund_returned') AND NOT EXISTS (
        SELECT FROM payments_posting p
        WHERE (p.charge_id, p.attempt_id) = (line.charge_id, line.attempt_id) AND p.account = 'provider_receivable'
    )
    GROUP BY attempt_id, currency HAVING sum(amount) = 0
)
UPDATE payments_reportline l SET matched_at = %(now)s
FROM line JOIN nothing USING (attempt_id, currency) WHERE l.id = line.id AND l.kind IN ('refund', 'refund_returned')
"""  # nosec B608 # no value in it
# What staff do to a payment at the provider has the payment's name and the provider's word, and was not asked for.
MADE_THERE = "(asked = 'authorize' AND kind IN ('refund', 'refund_returned') AND word <> '')"
DIFFERENCES = f"""
{LINES}, {POSTINGS}, {TAKEN}, asked AS (
    SELECT DISTINCT ON (attempt_id) attempt_id, id FROM posting ORDER BY attempt_id, id
), reported AS (
    SELECT *, asked IS NOT NULL AND kind <> 'unread' AND NOT (asked, kind) IN (
        ('authorize', 'capture'), ('capture', 'capture'), ('void', 'void'), ('refund', 'refund'),
        ('refund', 'refund_returned'), ('reverse', 'void'), ('reverse', 'refund'), ('authorize', 'dispute'),
        ('authorize', 'dispute_won')
    ) AND NOT {MADE_THERE} AS contradicts FROM line
), covered AS (
    SELECT range_agg(tstzrange(covers_from, covers_to)) AS periods FROM payments_reconciliationrun
    WHERE provider = %(provider)s
), difference AS MATERIALIZED (
    SELECT reported.id AS line_id,
        coalesce(posting.id, CASE WHEN reported.contradicts THEN asked.id ELSE taken.id END) AS posting_id,
        reported.attempt_id, reported.charge_id,
        CASE WHEN reported.kind = 'unread' THEN 'unread' WHEN reported.contradicts THEN 'kind_differs'
            WHEN posting.id IS NULL AND taken.id IS NOT NULL THEN 'reported_twice'
            WHEN posting.id IS NULL THEN 'missing_here'
            WHEN posting.currency <> reported.currency THEN 'currency_differs' ELSE 'amount_differs' END AS kind
    FROM reported LEFT JOIN posting USING (attempt_id, movement) LEFT JOIN taken USING (attempt_id, movement)
        LEFT JOIN asked ON asked.attempt_id = reported.attempt_id
    WHERE reported.asked IS NULL OR reported.kind = 'unread' OR reported.state = 'done' AND (
        reported.contradicts OR posting.id IS NOT NULL OR reported.booked_at < %(now)s - %(margin)s
    )
    UNION ALL
    SELECT NULL, posting.id, posting.attempt_id, posting.charge_id, 'missing_there' FROM posting CROSS JOIN covered
    WHERE tstzrange(created_at - %(margin)s, created_at + %(margin)s, '[]') <@ covered.periods AND NOT EXISTS (
        SELECT FROM reported
        WHERE reported.attempt_id = posting.attempt_id
            AND (reported.movement = posting.movement OR reported.contradicts)
    )
)
"""  # nosec B608 # no value in it
FIND = f"""
WITH {DIFFERENCES}
INSERT INTO payments_reconciliationitem
    (run_id, provider, kind, line_id, posting_id, attempt_id, charge_id, state, note, created_at)
SELECT %(run)s, %(provider)s, kind, line_id, posting_id, attempt_id, charge_id, 'open', '', %(now)s
FROM difference
ON CONFLICT DO NOTHING
"""  # nosec B608 # no value in it
FOLLOW_UP = f"""
WITH {DIFFERENCES}, seen AS (
    SELECT item.id, bool_or(d.kind IS NOT NULL) AS stands FROM payments_reconciliationitem item
    LEFT JOIN difference d ON d.kind = item.kind
        AND coalesce(d.line_id::text, d.posting_id::text) = coalesce(item.line_id::text, item.posting_id::text)
    WHERE item.provider = %(provider)s {{items_among}} GROUP BY item.id
)
UPDATE payments_reconciliationitem item SET vanished_at = CASE WHEN stands THEN NULL ELSE %(now)s END,
    posting_id = CASE WHEN item.kind = 'missing_here'
        THEN (SELECT l.posting_id FROM payments_reportline l WHERE l.id = item.line_id) ELSE item.posting_id END
FROM seen WHERE seen.id = item.id AND seen.stands = (item.vanished_at IS NOT NULL)
"""  # nosec B608 # no value in it


# Restrictions to the lines, postings and items of some charges.
EVERYTHING = {"lines_among": "", "postings_among": "", "items_among": ""}
OF_CHARGES = {
    "lines_among": "AND a.charge_id = ANY(%(charges)s)",
    "postings_among": "AND p.charge_id = ANY(%(charges)s)",
    "items_among": "AND item.charge_id = ANY(%(charges)s)",
}
# Where money moved after the item was made, or last looked at; a commit may come so much later than its moment.
ARRIVED = """
SELECT item.provider, array_agg(DISTINCT item.charge_id) FROM (
    SELECT provider, charge_id FROM payments_reconciliationitem i
    WHERE kind = 'missing_here' AND vanished_at IS NULL AND EXISTS (
        SELECT FROM payments_posting p
        WHERE p.charge_id = i.charge_id AND p.account = 'provider_receivable' AND p.attempt_id IS NOT NULL
            AND p.created_at > coalesce(i.rechecked_at, i.created_at) - interval '5 minutes'
    )
    LIMIT %(limit)s
) AS item GROUP BY item.provider
UNION ALL
SELECT i.provider, '{}'::uuid[] FROM payments_reconciliationitem i
JOIN payments_bankline b ON b.line_id = i.line_id WHERE i.state = 'open' AND i.vanished_at IS NULL
-- All of an account are looked at together: the more there are, the longer is the pause.
GROUP BY i.provider
HAVING coalesce(max(i.rechecked_at) + count(*) / 1000 * interval '1 minute', '-infinity') <= %(now)s
"""
RECHECKED = """
UPDATE payments_reconciliationitem SET rechecked_at = %(now)s
WHERE provider = %(provider)s AND charge_id = ANY(%(charges)s) AND kind = 'missing_here'
"""


def lock(provider: str) -> bool:
    """Lock the provider's reconciliation until the transaction ends; return False where another run holds it."""
    # One statement covers years of postings, which takes longer than a request may.
    allow_long_statements("15min")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext('kaha.reconciliation'), hashtext(%s))", [provider])
        return bool(cursor.fetchone()[0])


def store(run: ReconciliationRun, lines: Sequence[SettlementLine], before: int) -> int:
    """Store the lines that no earlier report had, numbered from `before` + 1; return how many."""
    known = _names_we_have(text for line in lines for text in (line.reference, line.provider_ref))
    values = {
        "run": run.pk,
        "provider": run.provider,
        "before": before,
        "references": [as_kept(line.reference, known) for line in lines],
        "provider_refs": [as_kept(line.provider_ref, known) for line in lines],
        "kinds": [line.kind.value for line in lines],
        "words": [as_kept(line.word) for line in lines],
        "amounts": [line.amount for line in lines],
        "currencies": [line.currency for line in lines],
        "moments": [line.booked_at for line in lines],
        "nths": [line.nth for line in lines],
        "file_lines": [line.row for line in lines],
    }
    return execute(STORE, values)


# References in reports are free text of others, in which a card number must not be kept.
def _names_we_have(references: Iterable[str]) -> set[str]:
    """Return those of `references` that look like card numbers, but are providers' names of operations of ours."""
    suspects = {text for text in references if holds_card_number(text)}
    if not suspects:
        return suspects
    found = (
        model.objects.filter(provider_ref__in=suspects).exclude(provider_ref="") for model in (Attempt, Dispute, Payout)
    )
    return {name for rows in found for name in rows.values_list("provider_ref", flat=True)}


def as_kept(text: str, known: Collection[str] = ()) -> str:
    """Return the text of a report as it is kept: where it holds a card number, only the last four digits."""
    if text in known or not holds_card_number(text):
        return text
    digits = "".join(letter for letter in plain(unescaped(text)) if letter in "0123456789")
    return f"[card …{digits[-4:]}]"


def match(run: ReconciliationRun, now: datetime, charges: Charges = None) -> None:
    """Match every line of the provider, of this or an earlier run, that now has its posting."""
    values = {"provider": run.provider, "now": now, "charges": charges}
    for statement in (FIND_REBUILT, FIND_REVERSALS, FIND_BY_PROVIDER_REF, FIND_DISPUTES, FIND_CAPTURES, FIND_REFUNDS):
        execute(statement, values)
    for template in (MATCH, CANCEL_OUT):
        execute(_among(template, charges), values)


def find_differences(run: ReconciliationRun, now: datetime, margin: timedelta, charges: Charges = None) -> int:
    """Create an item for each new difference, and mark those that vanished; return how many are new.

    Movements less than `margin` from an end of the covered period are left to the next run.
    """
    values = {"run": run.pk, "provider": run.provider, "now": now, "margin": margin, "charges": charges}
    new = execute(_among(FIND, charges), values)
    execute(_among(FOLLOW_UP, charges), values)
    return new


def arrived(limit: int, now: datetime) -> list[tuple[str, list[UUID]]]:
    """Return by provider the charges of items that are not in the ledger, where money moved since; at most `limit`.

    Our bank accounts with open items are among them, without charges, those with thousands of items now and then.
    """
    with connection.cursor() as cursor:
        cursor.execute(ARRIVED, {"limit": limit, "now": now})
        return [(provider, list(charges)) for provider, charges in cursor.fetchall()]


def mark_rechecked(provider: str, charges: Sequence[UUID], now: datetime) -> None:
    execute(RECHECKED, {"provider": provider, "charges": list(charges), "now": now})


def _among(template: str, charges: Charges) -> str:
    """Return the statement for everything of the provider, or for some charges alone."""
    return template.format(**(EVERYTHING if charges is None else OF_CHARGES))


def execute(statement: str, values: dict[str, Any]) -> int:
    """Execute a statement; return how many rows it wrote."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.rowcount
