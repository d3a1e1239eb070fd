"""Signed heads of the transparency log by e-mail: the first of each day (UTC), to the operators who asked.

A head that was mailed cannot be taken back: its receiver finds what is taken out of the log later.
"""

from datetime import UTC

from payments import clock
from payments.ledger.account_days import midnight
from payments.ledger.transparency.heads import first_head_since

# Among the sorts that an operator chooses, and what the key of such a mail begins with; the day follows.
LOG_HEADS = "log_heads"


def mail_due() -> dict[str, str]:
    """Return the key and the text of today's mail, which is the note itself; nothing before a head is signed."""
    day = clock.now().astimezone(UTC).date()
    head = first_head_since(midnight(day))
    return {f"{LOG_HEADS}:{day}": head.note} if head else {}
