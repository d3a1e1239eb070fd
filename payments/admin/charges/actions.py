"""What operators do about a charge: the buttons on its page, to which other modules add theirs."""

from collections.abc import Callable, Iterable

from django.http import HttpRequest

from payments.admin.framework.object_actions import Act
from payments.admin.operators.bulk_actions import ActsTogether
from payments.admin.operators.pages import ActPages, offers_of
from payments.admin.operators.requests import decisions_of
from payments.models import Charge

Offer = Callable[[HttpRequest, Charge], Iterable[Act]]
_offers: list[Offer] = [offers_of, decisions_of]


def offered_on_charges(offer: Offer) -> Offer:
    """Has the page of a charge show the buttons that `offer` gives for it, as far as this operator may press them."""
    _offers.append(offer)
    return offer


class ChargeActs(ActPages, ActsTogether):
    """The buttons on the page of a charge and where they lead, for its ModelAdmin."""

    def acts_of(self, request: HttpRequest, row: Charge) -> list[Act]:
        return [act for offer in _offers for act in offer(request, row)]
