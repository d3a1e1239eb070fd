"""The inbox of one operator: what needs attention in all currencies and modes, sort by sort, and what is theirs.

Each sort reads at most READ_MAX rows of the operator's merchants, and only if their role may see its list.
"""

from django.contrib.auth.models import User

from payments.inbox import decisions
from payments.inbox.entries import Entry, Section, about_charge, page_of
from payments.inbox.entry_texts import decision_entry
from payments.inbox.sorts import SORTS
from payments.models import Case, MerchantAccess
from payments.models.merchants.merchant_access import Limit, within

SHOWN_MAX = 20
# More, because equal entries are shown as one.
READ_MAX = 4 * SHOWN_MAX
SORT_NAMES = {sort.name: sort.label for sort in SORTS}


def limit_of(user: User) -> Limit:
    """Return the merchants that `user` works for; None for all."""
    return MerchantAccess.objects.limit_of(user)


def sections_of(user: User, limit: Limit, shown: int = SHOWN_MAX, read: int = READ_MAX) -> list[Section]:
    """Return the sorts that `user` may see with what needs attention at the merchants in `limit`."""
    seen = [sort for sort in SORTS if user.has_perm(sort.permission)]
    return [sort.section(limit, read).grouped(shown).offered_to(user) for sort in seen]


def assigned_to(user: User, limit: Limit) -> list[tuple[str, list[Entry]]]:
    """Return what is `user`'s own, as headings with entries: to decide, to take, asked for, and assigned to them."""
    return [
        ("For you to decide", [decision_entry(each, "decide") for each in decisions.to_decide(user, limit)]),
        ("Approved keys for you to take", [decision_entry(each) for each in decisions.to_take(user, limit)]),
        ("Yours, waiting for another operator", [decision_entry(each) for each in decisions.asked_for(user, limit)]),
        ("Assigned to you", _cases_of(user, limit)),
    ]


def _cases_of(user: User, limit: Limit) -> list[Entry]:
    """Return what other operators or `user` assigned to `user`, changed last first."""
    charges = ("charge", "attempt__charge", "item__charge")
    cases = Case.objects.select_related("merchant", *(f"{each}__source__card" for each in charges))
    found = cases.filter(within(limit, "merchant"), assignee=user).order_by("-updated_at")
    return [_case_entry(case) for case in found[:SHOWN_MAX]]


def _case_entry(case: Case) -> Entry:
    subject = case.subject
    return Entry(
        key=f"case:{case.pk}",
        what=str(subject._meta.verbose_name) + (f" ({', '.join(case.tags)})" if case.tags else ""),
        about=about_charge(subject),
        merchant=case.merchant.title if case.merchant else "",
        address=page_of(subject._meta.model_name, subject.pk),
        since=case.updated_at,
    )
