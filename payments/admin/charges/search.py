"""Search for charges, also by a provider's reference that is newer than the last event."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from payments.admin.framework.id_search import EntrySearch
from payments.admin.framework.merchant_access import limit_of
from payments.models import Attempt
from payments.search import find
from payments.search.query import Query


class ChargeSearch(EntrySearch):
    """The search of the list of charges."""

    search_fields = ("description",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        # A provider's reference may be recorded without an event, while the payer is still to act.
        referred = Attempt.objects.filter(provider_ref=search_term.strip()).exclude(provider_ref="")
        if referred.exists():
            return queryset.filter(pk__in=referred.values("charge_id")), False
        return super().get_search_results(request, queryset, search_term)

    def found_by(self, request: HttpRequest, query: Query) -> find.Found:
        return find.charges(query, limit_of(request))
