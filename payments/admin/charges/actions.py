"""The buttons on the page of a charge, which other features add to."""

from collections.abc import Callable, Iterable

from django.http import HttpRequest

from payments.admin.framework.object_actions import ActionButton
from payments.admin.operators.bulk_actions import BulkActions
from payments.admin.operators.pages import ActionPages, offers_of
from payments.admin.operators.requests import decisions_of
from payments.models import Charge

Offer = Callable[[HttpRequest, Charge], Iterable[ActionButton]]
_offers: list[Offer] = [offers_of, decisions_of]


def offered_on_charges(offer: Offer) -> Offer:
    """Register `offer` as a source of buttons for the page of a charge, and return it."""
    _offers.append(offer)
    return offer


class ChargeActs(ActionPages, BulkActions):
    """The buttons on the page of a charge and their pages, for its ModelAdmin."""

    def buttons_of(self, request: HttpRequest, row: Charge) -> list[ActionButton]:
        return [act for offer in _offers for act in offer(request, row)]
