"""Files of banks, whichever their format: those of an account of ours, and what keeps them from being read twice."""

from collections.abc import Callable, Sequence

from payments.domain.reconciliation.bank import camt, line_matcher, mt940
from payments.domain.reconciliation.bank.statements import ReadStatement, decode
from payments.domain.reconciliation.files import MAX_BYTES, MOST_UNREAD, BadReport
from payments.domain.reconciliation.matcher import as_kept
from payments.models import BankStatement, OwnBankAccount, ReconciliationRun


def checked(raw: bytes, most: int = MAX_BYTES) -> str:
    """Return the text of a bank's file; raise BadReport where it is larger than `most`, or of no format known here."""
    text = decode(raw, most)
    if text.lstrip().startswith("<"):
        camt.check(text)
    elif not mt940.is_one(text):
        raise BadReport("line 1: it is neither camt.053, camt.052 or camt.054 nor MT940")
    return text


def parse(text: str, account: OwnBankAccount, progress: Callable[[int], None] = lambda _: None) -> list[ReadStatement]:
    """Return the statements of the account in a file, which may have those of others too. Raise BadReport."""
    found = (camt if text.lstrip().startswith("<") else mt940).read(text, progress)
    own = [each for each in found if each.number.replace(" ", "").upper().endswith(account.last4)]
    own = [each for each in own if each.currency in ("", account.currency)]
    if not own:
        others = "; ".join(f"{each.currency}, ending in {each.number[-4:]}" for each in found[:3])
        wanted = f"{account}, {account.currency}, ending in {account.last4}"
        raise BadReport(f"it has no statement of {wanted}, but: {others}")
    if len({each.number.replace(" ", "").upper() for each in own}) > 1:
        raise BadReport(f"it has statements of several accounts that end in {account.last4}, so split it")
    if all(each.opening is None and not each.lines for each in own):
        raise BadReport("no entries: it has no booked movement and no balance")
    unread = [line for each in own for line in each.lines if not line.booked_at]
    if unread and len(unread) == sum(len(each.lines) for each in own):
        raise BadReport(unread[0].word)
    if len(unread) > MOST_UNREAD:
        raise BadReport(f"{unread[0].word}; {len(unread) - 1:,} more entries cannot be read")
    return own


def keep(run: ReconciliationRun, account: OwnBankAccount, statements: Sequence[ReadStatement]) -> None:
    """Store the statements that a run read, and what stands beside its lines.

    Raise BadReport where an earlier run has all of it.
    """
    rows = [
        BankStatement(
            account=account, run=run, name=as_kept(each.name), first_day=each.first_day or each.last_day,
            last_day=each.last_day, opening=each.opening, closing=each.closing, off=each.off,
        )
        for each in statements
        if each.opening is not None and each.closing is not None and each.last_day
    ]  # fmt: skip
    BankStatement.objects.bulk_create(rows, ignore_conflicts=True)
    if not run.new_lines and not run.statements.exists():
        raise BadReport("all of it was read before, so nothing was changed")
    line_matcher.store(run, ((line.row, as_kept(line.text)) for each in statements for line in each.lines))
