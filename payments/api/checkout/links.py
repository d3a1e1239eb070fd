"""Payment links, by `/v2/payment_links/` and their other addresses (checkout law, sections 1 and 4)."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.checkout.sessions import CheckoutViewSet, alias_of
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.fields import OneOf
from payments.api.validation.payment_links import LinkChangeInput, LinkInput
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Filters, Listing, show_page
from payments.api.views.numbered_pages import NumberedPageQuery, show_numbered_page
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.checkout import links
from payments.domain.shared.caller import Caller
from payments.models import PaymentLink
from payments.rendering.objects.payment_links import PAYMENT_LINK

STATUSES = {"active": True, "deactivated": False}


def _status() -> OneOf:
    return OneOf(STATUSES, required=False, help_text="Only links that are so.")


class LinkListQuery(PageQuery):
    """The filters of links."""

    status = _status()


class NumberedLinkQuery(NumberedPageQuery):
    """The filters of links, by the number of a page."""

    status = _status()


def _narrow(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    return {"below": after or LAST_ID, **_filters(query)}


def _filters(query: Mapping[str, Any]) -> dict[str, Any]:
    status = query.get("status")
    return {"active": STATUSES[status]} if status else {}


def links_page(
    *, merchant_id: UUID, livemode: bool, length: int, below: UUID, **narrowed: bool
) -> QuerySet[PaymentLink]:
    """Return the newest links, those that are `active` or not where it is given."""
    path = {"merchant_id": merchant_id, "livemode": livemode, **narrowed}
    return PaymentLink.objects.whole().newest_page([path], length, below)


LINKS = Listing(PaymentLink, "plink", CompiledQuery(links_page, for_rendering=True), _narrow)


CREATED, CHANGED = answer_of(PAYMENT_LINK, 201), answer_of(PAYMENT_LINK)


class LinkViewSet(CheckoutViewSet):
    """Payment links; each action calls one function of the domain."""

    shown, find = PAYMENT_LINK, links.find
    query_serializers = {"list": LinkListQuery}
    alias_queries = {"list": NumberedLinkQuery}

    def list(self, request: Request) -> HttpResponse:
        caller = self.caller(request)
        if not alias_of(request):
            return show_page(request, caller, LINKS, self.query, PAYMENT_LINK.render)
        path = {"merchant_id": caller.merchant_id, "livemode": caller.livemode, **_filters(self.query)}
        return show_numbered_page(request, PaymentLink.objects.whole(), path, self.query, PAYMENT_LINK.render)

    def create(self, request: Request) -> HttpResponse:
        return self.make(request, LinkInput, partial(links.create, render=CREATED))

    def update(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, LinkChangeInput, lambda caller, body: links.change(caller, pk, body, CHANGED).answer)

    @action(detail=True, methods=["post"])
    def activate(self, request: Request, pk: str) -> HttpResponse:
        return self._switch(request, pk, is_active=True)

    @action(detail=True, methods=["post"])
    def deactivate(self, request: Request, pk: str) -> HttpResponse:
        return self._switch(request, pk, is_active=False)

    def _switch(self, request: Request, pk: str, *, is_active: bool) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: links.set_active(caller, pk, is_active, CHANGED).answer)
