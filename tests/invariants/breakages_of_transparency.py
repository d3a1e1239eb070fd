"""One way to break each invariant of the transparency log."""

from datetime import timedelta

from payments import clock
from payments.db.scoped_queryset import LAST_ID
from payments.ids import public_id
from payments.ledger.transparency import append
from payments.models import LogLeaf, LogProgress, Posting
from tests.factories import MerchantFactory
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge
from tests.invariants.history import History


def newest_leaf() -> tuple[LogLeaf, str]:
    """Log all that is there; return the last leaf, and the first line of its journal."""
    LogProgress.objects.create(posting_id=LAST_ID)
    append.append_missed()
    LogProgress.objects.update(looked_at=clock.now() + timedelta(days=1))
    leaf = LogLeaf.objects.latest("number")
    return leaf, public_id("txn", Posting.objects.get(journal=leaf.journal, line=1).id)


@breaks("journals_have_their_leaf")
def journal_that_the_log_read_past(history: History) -> str:
    leaf, line = newest_leaf()
    leaf.delete()
    return line


@breaks("leaves_match_their_journal")
def leaf_of_another_merchant(history: History) -> str:
    leaf, line = newest_leaf()
    forge(leaf, merchant=MerchantFactory())
    return line
