"""Statements of a month by e-mail: to the operators who asked, once for each of them, as soon as the month is final."""

from collections.abc import Iterator
from datetime import date, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from payments import clock
from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import month_of, name_of, statement_of
from payments.inbox.entries import list_of, page_of
from payments.inbox.sections import limit_of
from payments.ledger.account_days import midnight
from payments.ledger.sums import is_final
from payments.models import Merchant, Notification, RunningBalance
from payments.models.merchants.merchant_access import within

# Among the sorts that an operator chooses, and what the key of such a mail begins with; the month follows.
STATEMENTS = "statements"
MAY_GET = "payments.download_statement"
# Who works for more merchants gets the link to the list.
ATTACHED_MAX = 10
File = tuple[str, bytes, str]


def mail_due(user: User) -> dict[str, str]:
    """Return the key and the text of the mail about the month before this one; nothing until that is final."""
    until = clock.now().date().replace(day=1)
    merchants = _merchants(user) if is_final(midnight(until)) else []
    if not merchants:
        return {}
    first = (until - timedelta(days=1)).replace(day=1)
    lines = [f"Statements of {first:%B %Y}", f"{settings.ADMIN_ORIGIN}{list_of('statement')}"]
    if len(merchants) <= ATTACHED_MAX:
        links = (f"{page_of('statement', each.pk)}?month={first:%Y-%m}&mode=live" for each in merchants)
        names = (name_of(each, True, first) for each in merchants)
        lines = [f"{name}\n{settings.ADMIN_ORIGIN}{link}" for name, link in zip(names, links, strict=True)]
    return {f"{STATEMENTS}:{first:%Y-%m}": "\n".join(lines)}


def files_of(notification: Notification) -> list[File]:
    """Return the statements that go with a notification as PDF: of the merchants that its operator may see now."""
    name, _, month = notification.key.partition(":")
    merchants = _merchants(notification.operator) if name == STATEMENTS and notification.operator else []
    return list(_files(merchants, month_of(month))) if 0 < len(merchants) <= ATTACHED_MAX else []


def _files(merchants: list[Merchant], first: date) -> Iterator[File]:
    for merchant in merchants:
        statement = statement_of(merchant, True, first)
        yield f"{statement.name}.pdf", statement_pdf(statement), "application/pdf"


def _merchants(user: User) -> list[Merchant]:
    """Return the operator's merchants with live books, one more than are attached at most; none without the right."""
    if not user.has_perm(MAY_GET):
        return []
    books = RunningBalance.objects.filter(merchant=OuterRef("pk"), livemode=True)
    found = Merchant.objects.filter(within(limit_of(user), "pk"), Exists(books)).order_by("title", "pk")
    return list(found[: ATTACHED_MAX + 1])
