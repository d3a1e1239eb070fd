"""What one run found, as it is now: matched, under way and each difference, with both sides by currency."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from payments.models import ReconciliationItem, ReconciliationRun

# Lines are those that no earlier report had; a difference that vanished counts as what its line is now.
FOUND = """
WITH found AS (
    SELECT CASE WHEN l.matched_at IS NOT NULL THEN 'matched' ELSE coalesce(
            (SELECT i.kind FROM payments_reconciliationitem i
                WHERE i.line_id = l.id AND i.vanished_at IS NULL ORDER BY i.id LIMIT 1), 'under_way'
        ) END AS part,
        l.currency, l.amount AS theirs, coalesce(l.posting_id, (
            SELECT i.posting_id FROM payments_reconciliationitem i
            WHERE i.line_id = l.id AND i.vanished_at IS NULL ORDER BY i.id LIMIT 1
        )) AS posting_id
    FROM payments_reportline l WHERE l.run_id = %(run)s
    UNION ALL
    SELECT i.kind, NULL, 0, i.posting_id FROM payments_reconciliationitem i
    WHERE i.run_id = %(run)s AND i.line_id IS NULL AND i.vanished_at IS NULL
)
SELECT part, coalesce(found.currency, p.currency) AS currency, count(*), sum(theirs),
    coalesce(sum(coalesce(p.amount, CASE part WHEN 'matched' THEN theirs END))
        FILTER (WHERE found.currency IS NULL OR p.id IS NULL OR found.currency = p.currency), 0)
FROM found LEFT JOIN payments_posting p ON p.id = found.posting_id
GROUP BY 1, 2 ORDER BY 1, 2
"""
WORDS = {"matched": "Matched", "under_way": "Under way"}
KINDS: dict[str, str] = dict(ReconciliationItem.Kind.choices)
PARTS = ["matched", *KINDS, "under_way"]


@dataclass(frozen=True)
class Summed:
    """The movements of one result in one currency, in its smallest unit."""

    name: str
    currency: str
    count: int
    reported: int
    posted: int

    @property
    def words(self) -> str:
        return WORDS.get(self.name) or KINDS.get(self.name, self.name)

    @property
    def difference(self) -> int:
        return self.reported - self.posted


def parts_of(run: ReconciliationRun) -> Sequence[Summed]:
    """Return the parts of a run, matched first."""
    with connection.cursor() as cursor:
        cursor.execute(FOUND, {"run": run.pk})
        found = [Summed(name, currency, count, int(a), int(b)) for name, currency, count, a, b in cursor.fetchall()]
    places = {name: place for place, name in enumerate(PARTS)}
    return sorted(found, key=lambda part: (places.get(part.name, len(PARTS)), part.currency))
