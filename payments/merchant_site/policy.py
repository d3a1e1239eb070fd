"""What a merchant's people see of the pages of the back office."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.merchant_access import Policy
from payments.admin.framework.object_actions import operator_of
from payments.inbox.decisions import seen_kinds
from payments.merchant_site.site import merchant_of, merchant_site
from payments.models import Merchant

# The columns, filters and heads of files that are the same on every page.
ON_ALL_PAGES = {
    *("public_id", "charge_link", "created", "created_at", "updated", "decided", "expires", "mode", "events"),
}
# The permission to see what developers look at: events, and each request.
SEES_EVENTS = "payments.view_event"
STAFF = _("kaha's staff")
PEOPLE = ("proposed_by", "decided_by")


class MerchantPolicy(Policy):
    """Shows the columns, fields, filters, parts, actions and related rows that say `for_merchants`, and no other.

    So what is new in the back office is shown to no merchant.
    """

    is_for_operators = False

    def sees(self, page: Any, name: str) -> bool:
        return name in ON_ALL_PAGES or name in page.for_merchants.split()

    def sees_field(self, page: Any, request: HttpRequest, name: str) -> bool:
        return self.sees(page, name) and (name != "events" or operator_of(request).has_perm(SEES_EVENTS))

    def sees_part(self, part: Any) -> bool:
        return bool(part.for_merchants)

    def owner_of_new(self, request: HttpRequest) -> Merchant:
        return merchant_of(request)


class RequestsPolicy(MerchantPolicy):
    """Shows requests with their people, of whom those who are no colleagues are kaha's staff."""

    def rows(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        # A join would leave out the requests of the staff, who are behind the wall.
        seen = rows.select_related(None).filter(kind__in=seen_kinds(operator_of(request)))
        return seen.select_related("merchant")

    def complete(self, rows: Any) -> None:
        ids = {getattr(row, f"{name}_id") for row in rows for name in PEOPLE}
        colleagues = User.objects.filter(is_staff=False).in_bulk(filter(None, ids))
        for row in rows:
            for name in PEOPLE:
                if pk := getattr(row, f"{name}_id"):
                    setattr(row, name, colleagues.get(pk) or User(pk=pk, username=str(STAFF)))
            # What the staff write about their decisions is the service's.
            if row.decided_by_id and row.decided_by_id not in colleagues:
                row.note = ""


OF_MERCHANT, OF_REQUESTS = MerchantPolicy(), RequestsPolicy()


def on_merchant_site(
    model: type[Model], policy: MerchantPolicy = OF_MERCHANT, **arguments: Any
) -> Callable[[type[Any]], type[Any]]:
    """Have the merchants' site show a page of `model` under `policy`, with `arguments` in place of its attributes."""

    def register(page: Any) -> Any:
        made: Any = partial(page, policy=policy, **arguments)
        merchant_site.register(model, made)
        return page

    return register
