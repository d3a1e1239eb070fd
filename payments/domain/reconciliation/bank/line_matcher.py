"""The matcher of movements on our own bank accounts: whole sets at a time, in SQL, in the caller's transaction.

What names a payout, a bank file or a provider's batch is that. Amount and day alone make a suspicion, which a person
confirms: nothing is matched by it. A batch of a provider is a line of its report that says what it paid to our bank.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import matcher
from payments.domain.reconciliation.items import TooLate
from payments.models import BankLine, OwnBankAccount, ReconciliationItem, ReconciliationRun, ReportLine

# What is matched with a movement on one account may not be with one on another, so one lock is of all.
ACCOUNTS = "our bank accounts"
STORE = """
INSERT INTO payments_bankline (line_id, text, is_guess)
SELECT l.id, given.text, false FROM unnest(%(numbers)s::int[], %(texts)s::text[]) AS given (number, text)
JOIN payments_reportline l ON l.run_id = %(run)s AND l.number = given.number
"""
# What another movement of the account already is, out of it or into it.
SEEN = """(SELECT FROM payments_bankline t JOIN payments_reportline m ON m.id = t.line_id
    WHERE m.matched_at IS NOT NULL AND sign(m.amount) = {sign} AND ({same}))"""
LEFT = SEEN.format(sign="-1", same="t.payout_id = p.id OR t.file_id = f.id")
FILE_LEFT = SEEN.format(sign="-1", same="t.file_id = f.id")
SAME = SEEN.format(
    sign="sign(l.amount)",
    same="t.payout_id = b.payout_id OR t.file_id = b.file_id OR t.batch_id = b.batch_id OR t.file_id = p.file_id",
)
# A payout of the file left by itself, so the file did not leave as one.
PART_LEFT = """(SELECT FROM payments_payout o JOIN payments_bankline t ON t.payout_id = o.id
    JOIN payments_reportline m ON m.id = t.line_id
    WHERE o.file_id = f.id AND m.matched_at IS NOT NULL AND m.amount < 0)"""
FORGET_GUESSES = """
UPDATE payments_bankline b SET payout_id = NULL, file_id = NULL, batch_id = NULL, is_guess = false
FROM payments_reportline l WHERE l.id = b.line_id AND l.provider = %(name)s AND l.matched_at IS NULL
    AND (b.is_guess OR EXISTS (SELECT FROM payments_reportline d WHERE d.id = b.batch_id AND d.amount <> -l.amount))
"""
# A text's letters and digits, with a blank around each word: one name may begin with another.
WORDS = "lower(' ' || regexp_replace({}, '[^[:alnum:]]+', ' ', 'g') || ' ')"
LINES = f"""
line AS MATERIALIZED (
    SELECT l.id, l.word, l.amount, l.currency, l.booked_at,
        {WORDS.format("concat_ws(' ', l.reference, l.provider_ref, b.text)")} AS words,
        CASE WHEN l.reference ~ '^[0-9a-f]{{32}}$' THEN l.reference::uuid END AS named
    FROM payments_reportline l JOIN payments_bankline b ON b.line_id = l.id
    WHERE l.provider = %(name)s AND l.matched_at IS NULL AND l.kind = 'booked'
        AND b.payout_id IS NULL AND b.file_id IS NULL AND b.batch_id IS NULL
)
"""  # nosec B608 # no value in it
SET = """
UPDATE payments_bankline b
SET payout_id = found.payout_id, file_id = found.file_id, batch_id = found.batch_id, is_guess = %(is_guess)s
FROM found WHERE b.line_id = found.id
"""
NAMED = f"""
WITH {LINES}, found AS (
    SELECT line.id, p.id AS payout_id, NULL::uuid AS file_id, NULL::bigint AS batch_id
    FROM line JOIN payments_payout p ON p.id = line.named
    WHERE p.sent_at IS NOT NULL AND (p.file_id IS NOT NULL OR NOT p.livemode AND 'simulator' = ANY(%(providers)s))
    UNION ALL
    SELECT line.id, NULL, f.id, NULL FROM line JOIN payments_payoutfile f ON f.id = line.named
    WHERE f.sent_at IS NOT NULL
    UNION ALL
    -- The bank says that it is a batch, of as many payments with the same sum, and no other file is.
    SELECT line.id, NULL, (array_agg(f.id))[1], NULL
    FROM line JOIN payments_payoutfile f ON f.total = -line.amount AND line.word = 'batch of ' || f.count
    WHERE line.named IS NULL AND f.currency = line.currency AND f.debtor_last4 = %(last4)s
        AND f.sent_at BETWEEN line.booked_at - %(days)s AND line.booked_at + interval '1 day' AND NOT EXISTS {FILE_LEFT}
        AND NOT EXISTS {PART_LEFT}
    GROUP BY line.id HAVING count(*) = 1
    UNION ALL
    (SELECT DISTINCT ON (line.id) line.id, NULL::uuid, NULL::uuid, d.id
    FROM line JOIN payments_reportline d ON d.kind = 'payout' AND d.provider = ANY(%(providers)s)
        AND d.matched_at IS NULL
        AND (length(d.reference) > 5 AND strpos(line.words, {WORDS.format("d.reference")}) > 0
            OR length(d.provider_ref) > 5 AND strpos(line.words, {WORDS.format("d.provider_ref")}) > 0)
    WHERE line.amount > 0 AND line.named IS NULL
    ORDER BY line.id, (d.amount, d.currency) <> (-line.amount, line.currency), d.id)
) {SET}
"""  # nosec B608 # no value in it
# Of those with the same amount the nearest, unless a person has said of the line that it is not.
GUESSED = f"""
WITH {LINES}, candidate AS (
    SELECT p.id AS payout_id, NULL::uuid AS file_id, NULL::bigint AS batch_id, -p.amount AS amount, p.currency,
        f.sent_at AS at
    FROM payments_payoutfile f JOIN payments_payout p ON p.file_id = f.id
    WHERE f.debtor_last4 = %(last4)s AND f.sent_at >= (SELECT min(booked_at) FROM line) - %(days)s AND NOT EXISTS {LEFT}
    UNION ALL
    SELECT NULL, f.id, NULL, -f.total, f.currency, f.sent_at FROM payments_payoutfile f
    WHERE f.debtor_last4 = %(last4)s AND f.count > 1 AND f.sent_at IS NOT NULL AND NOT EXISTS {FILE_LEFT}
        AND NOT EXISTS {PART_LEFT}
    UNION ALL
    SELECT NULL, NULL, d.id, -d.amount, d.currency, d.booked_at FROM payments_reportline d
    WHERE d.kind = 'payout' AND d.provider = ANY(%(providers)s) AND d.matched_at IS NULL
), found AS (
    SELECT DISTINCT ON (line.id) line.id, c.payout_id, c.file_id, c.batch_id
    FROM line JOIN candidate c ON c.amount = line.amount AND c.currency = line.currency
        AND c.at BETWEEN line.booked_at - %(days)s AND line.booked_at + interval '1 day'
    WHERE NOT EXISTS (SELECT FROM payments_reconciliationitem i
        WHERE i.line_id = line.id AND i.kind = 'suspected' AND i.state = 'closed')
    ORDER BY line.id, abs(extract(epoch FROM line.booked_at - c.at)), c.payout_id, c.file_id, c.batch_id
) {SET}
"""  # nosec B608 # no value in it
WITH_WHAT = """
payments_reportline l JOIN payments_bankline b ON b.line_id = l.id
    LEFT JOIN payments_payout p ON p.id = b.payout_id LEFT JOIN payments_payoutfile f ON f.id = b.file_id
    LEFT JOIN payments_reportline d ON d.id = b.batch_id
WHERE l.provider = %(name)s AND l.matched_at IS NULL
"""
CURRENCY, AMOUNT = "coalesce(p.currency, f.currency, d.currency)", "-coalesce(p.amount, f.total, d.amount)"
# A payout that came back is matched as soon as the ledger has it as failed.
MATCH = f"""
WITH known AS (
    SELECT l.id, b.batch_id, row_number() OVER (
        PARTITION BY b.payout_id, b.file_id, b.batch_id, sign(l.amount) ORDER BY l.id
    ) AS nth, b.payout_id IS NOT NULL AND bool_or(b.file_id IS NOT NULL) OVER (
        PARTITION BY coalesce(b.file_id, p.file_id), sign(l.amount)
    ) AS left_with_file
    FROM {WITH_WHAT} AND NOT b.is_guess AND {CURRENCY} = l.currency AND NOT EXISTS {SAME}
        AND NOT EXISTS {PART_LEFT} AND (l.amount = {AMOUNT} OR l.amount = p.amount AND p.status = 'failed')
)
UPDATE payments_reportline l SET matched_at = %(now)s FROM known
WHERE known.nth = 1 AND NOT known.left_with_file AND l.id IN (known.id, known.batch_id)
"""  # nosec B608 # no value in it
DIFFERENCES = f"""
WITH difference AS (
    SELECT l.id AS line_id, CASE WHEN l.kind = 'unread' THEN 'unread' WHEN b.is_guess THEN 'suspected'
        WHEN {CURRENCY} IS NULL THEN 'missing_here' WHEN {CURRENCY} <> l.currency THEN 'currency_differs'
        WHEN l.amount > 0 AND b.payout_id IS NOT NULL THEN 'returned'
        WHEN l.amount <> {AMOUNT} THEN 'amount_differs' ELSE 'reported_twice' END AS kind
    FROM {WITH_WHAT}
)
"""  # nosec B608 # no value in it
FIND = f"""{DIFFERENCES}
INSERT INTO payments_reconciliationitem (run_id, provider, kind, line_id, state, note, created_at)
SELECT %(run)s, %(name)s, kind, line_id, 'open', '', %(now)s FROM difference ORDER BY line_id ON CONFLICT DO NOTHING
"""  # nosec B608 # no value in it
FOLLOW_UP = f"""{DIFFERENCES}, seen AS (
    SELECT i.id, d.kind IS NOT NULL AS stands FROM payments_reconciliationitem i
    LEFT JOIN difference d ON d.line_id = i.line_id AND d.kind = i.kind WHERE i.provider = %(name)s
)
UPDATE payments_reconciliationitem i SET vanished_at = CASE WHEN stands THEN NULL ELSE %(now)s END
FROM seen WHERE seen.id = i.id AND seen.stands = (i.vanished_at IS NOT NULL)
"""  # nosec B608 # no value in it


def store(run: ReconciliationRun, texts: Iterable[tuple[int, str]]) -> None:
    """Store what the bank wrote beside the new lines of a run, by their numbers."""
    numbers, written = zip(*texts, strict=True) if (texts := list(texts)) else ((), ())
    matcher.execute(STORE, {"run": run.pk, "numbers": list(numbers), "texts": list(written)})


def match(account: OwnBankAccount, run: ReconciliationRun, now: datetime) -> int:
    """Match every movement of the account, and have an item for each that is not; return how many items are new."""
    values = {"name": account.name, "last4": account.last4, "providers": account.providers, "now": now, "run": run.pk}
    values["days"] = timedelta(days=account.days)
    for statement in (FORGET_GUESSES, NAMED, MATCH):
        matcher.execute(statement, values | {"is_guess": False})
    matcher.execute(GUESSED, values | {"is_guess": True})
    new = matcher.execute(FIND, values)
    matcher.execute(FOLLOW_UP, values)
    return new


@transaction.atomic
def confirm(item: ReconciliationItem, shown: str, operator: Any, note: str) -> None:
    """Match the movement of a suspicion with what it perhaps is, which the person was `shown` by its `key_of`.

    Raise TooLate where it is decided, matched or another suspicion by now, or another process matches our accounts.
    """
    now = clock.now()
    if not matcher.lock(ACCOUNTS):
        raise TooLate
    guess = BankLine.objects.filter(line=item.line_id, is_guess=True, line__matched_at=None)
    stands = ReconciliationItem.objects.filter(pk=item.pk, state=ReconciliationItem.State.OPEN, vanished_at=None)
    found = guess.first()
    if not found or key_of(found) != shown or not stands.update(vanished_at=now):
        raise TooLate
    guess.update(is_guess=False, confirmed_by=operator)
    matcher.execute(MATCH, {"name": item.provider, "now": now})
    if not ReportLine.objects.filter(items=item.pk, matched_at__isnull=False).exists():
        raise TooLate
    audit_log.record(Action.APPROVED, item, detail=f"it is {what_is(found)}, {shown}", reason=note)


def key_of(line: BankLine) -> str:
    """Return the key of what a movement is, or perhaps is."""
    return str(line.payout_id or line.file_id or line.batch_id or "")


def what_is(line: BankLine) -> str:
    """Return what a movement is, or perhaps is: a payout, a bank file or a provider's batch; "" where nobody knows."""
    perhaps = "perhaps " * line.is_guess
    if line.batch:
        return f"{perhaps}what {line.batch.provider} paid, {line.batch.reference or line.batch.provider_ref}"
    if line.payout:
        return f"{perhaps}payout to {line.payout.merchant}"
    return f"{perhaps}{line.file}" if line.file else ""
