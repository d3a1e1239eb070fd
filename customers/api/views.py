from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from customers.api.serializers import AttachInput, CustomerChanges, CustomerInput, CustomerListQuery
from customers.domain import customers, kept_sources
from customers.domain.changes import find
from customers.domain.verbs import DETACH
from customers.models import Customer
from customers.rendering import CUSTOMER, DELETED
from payments.api.responses.rendering import json_response
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Listing, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes


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


class CustomerViewSet(ApiViewSet):
    """Customers and the sources kept for them; each verb is one function of the domain."""

    query_serializers = {"list": CustomerListQuery}
    reads, writes = "customers:read", DETACH.right

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), CUSTOMERS, self.query, CUSTOMER.render)

    def create(self, request: Request) -> HttpResponse:
        return self.run(
            request,
            CustomerInput,
            lambda caller, body: customers.create(caller, body, partial(_answer, status=201)).answer,
        )

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(CUSTOMER.render(find(self.caller(request), pk)))

    def update(self, request: Request, pk: str) -> HttpResponse:
        changes = self.body(CustomerChanges)
        return json_response(CUSTOMER.render(customers.update(self.caller(request), pk, changes)))

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
            request, AttachInput, lambda caller, body: kept_sources.attach(caller, pk, body, _answer).answer
        )

    @action(detail=True, methods=["delete"], url_path="sources/(?P<source_id>[^/]+)")
    def detach(self, request: Request, pk: str, source_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_response(CUSTOMER.render(kept_sources.detach(self.caller(request), pk, source_id)))


def _answer(customer: Customer, status: int = 200) -> StoredAnswer:
    return StoredAnswer(status, to_bytes(CUSTOMER.render(customer)))
