from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from customers.api.serializers import AttachInput, CustomerChanges, CustomerInput, CustomerListQuery
from customers.domain import changes, customers, kept_sources
from customers.domain.verbs import DETACH
from customers.models import Customer
from customers.rendering import CUSTOMER, DELETED
from payments.api.responses.rendering import json_response
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Listing, ListViewSet
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.shared.caller import Caller


def customer_filters(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> dict[str, Any]:
    """Return the values of `customers_page` for a query."""
    return {"below": after or LAST_ID, **({"email": customers.written(query["email"])} if "email" in query else {})}


def customers_page(
    *, merchant_id: UUID, livemode: bool, length: int, below: UUID, email: str | None = None
) -> QuerySet[Customer]:
    """Return the newest customers, all or those with this address."""
    path: dict[str, Any] = {"merchant_id": merchant_id, "livemode": livemode}
    path |= {} if email is None else {"email": email}
    return Customer.objects.present().whole(merchant_id).newest_page([path], length, below)


CUSTOMERS = Listing(Customer, "cus", CompiledQuery(customers_page, for_rendering=True), customer_filters)
CREATED, CHANGED = answer_of(CUSTOMER, 201), answer_of(CUSTOMER)


class CustomerViewSet(ListViewSet):
    """Customers and the sources kept for them; each verb is one function of the domain."""

    listing, shown, find = CUSTOMERS, CUSTOMER, changes.find
    query_serializers = {"list": CustomerListQuery}
    reads, writes = "customers:read", DETACH.right

    def create(self, request: Request) -> HttpResponse:
        return self.run(
            request,
            CustomerInput,
            lambda caller, body: customers.create(caller, body, CREATED).answer,
        )

    def update(self, request: Request, pk: str) -> HttpResponse:
        changed = customers.update(self.caller(request), pk, self.body(CustomerChanges))
        return json_response(CUSTOMER.render(changed))

    def destroy(self, request: Request, pk: str) -> HttpResponse:
        self.body(Nothing)
        customers.delete(self.caller(request), pk)
        return json_response(DELETED.render(pk))

    @action(detail=False, url_path="by_email/(?P<email>.+?)")
    def by_email(self, request: Request, email: str) -> HttpResponse:
        return json_response(CUSTOMER.render(customers.find_by_email(self.caller(request), email)))

    @action(detail=True, methods=["post"], url_path="sources")
    def attach(self, request: Request, pk: str) -> HttpResponse:
        return self.run(
            request, AttachInput, lambda caller, body: kept_sources.attach(caller, pk, body, CHANGED).answer
        )

    @action(detail=True, methods=["delete"], url_path="sources/(?P<source_id>[^/]+)")
    def detach(self, request: Request, pk: str, source_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_response(CUSTOMER.render(kept_sources.detach(self.caller(request), pk, source_id)))
