"""One way to break each invariant of the transparency log."""

from datetime import timedelta

from payments import clock
from payments.db.scoped_queryset import LAST_ID
from payments.ids import public_id
from payments.ledger.transparency import append
from payments.models import LogLeaf, LogProgress, Posting
from tests.invariants.breakages import breaks
from tests.invariants.history import History


@breaks("journals_have_their_leaf")
def journal_that_the_log_read_past(history: History) -> str:
    LogProgress.objects.create(posting_id=LAST_ID)
    append.append_missed()
    LogProgress.objects.update(looked_at=clock.now() + timedelta(days=1))
    leaf = LogLeaf.objects.latest("number")
    posting = Posting.objects.get(journal=leaf.journal, line=1)
    leaf.delete()
    return public_id("txn", posting.id)
