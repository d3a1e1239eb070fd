"""The inbox of one operator: what needs attention in all currencies and modes, sort by sort, and what is theirs.

Each sort reads at most SHOWN_MAX + 1 rows of the operator's merchants, and only if their role may see its list.
"""

from django.contrib.auth.models import User

from payments.models import MerchantAccess
from payments.models.merchants.merchant_access import Limit
from payments.overview import decisions
from payments.overview.inbox_entry import COUNTED_MAX, Entry, Section, Sort
from payments.overview.inbox_sorts import SORTS, decision_entry

SHOWN_MAX = 50
SORT_NAMES = {sort.name: sort.label for sort in SORTS}


def limit_of(user: User) -> Limit:
    """Return the merchants that `user` works for; None for all."""
    return MerchantAccess.objects.limit_of(user)


def sections_of(user: User, limit: Limit, shown: int = SHOWN_MAX) -> list[Section]:
    """Return the sorts that `user` may see with what needs attention at the merchants in `limit`."""
    return [_section(sort, limit, shown) for sort in SORTS if user.has_perm(sort.permission)]


def assigned_to(user: User, limit: Limit) -> list[tuple[str, list[Entry]]]:
    """Return what is `user`'s own, as headings with entries: to decide, to take, and asked for by them.

    Whatever assigns rows to operators adds its heading here.
    """
    waiting = decisions.waiting_for(user, limit)
    return [
        ("For you to decide", [decision_entry(each, "decide") for each in waiting.to_decide]),
        ("Approved keys for you to take", [decision_entry(each, "change") for each in waiting.to_take]),
        ("Yours, waiting for somebody else", [decision_entry(each, "change") for each in waiting.own]),
    ]


def _section(sort: Sort, limit: Limit, shown: int) -> Section:
    entries = list(sort.read(limit, shown + 1))
    if len(entries) <= shown:
        return Section(sort, entries, len(entries))
    count = sort.rows(limit).order_by()[: COUNTED_MAX + 1].count() if sort.rows else len(entries)
    return Section(sort, entries[:shown], count)
