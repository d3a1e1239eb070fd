"""The buttons on the page of a charge, which other features add to."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import URLPattern, path

from payments.admin.framework.base import Part
from payments.admin.framework.object_actions import ActionButton
from payments.admin.operators.pages import act_on_charge, offers_of
from payments.admin.operators.requests import decisions_of
from payments.admin.operators.words import ACTIONS
from payments.models import Charge

Offer = Callable[[HttpRequest, Charge], Iterable[ActionButton]]
_offers: list[Offer] = [offers_of, decisions_of]


def offered_on_charges(offer: Offer) -> Offer:
    """Register `offer` as a source of buttons for the page of a charge, and return it."""
    _offers.append(offer)
    return offer


class ChargeActions(Part):
    """The buttons on the page of a charge, those of `offers`, and the pages of the actions on it."""

    for_merchants = True

    def __init__(self, offers: Sequence[Offer] = _offers) -> None:
        self.offers = offers

    def urls(self, page: Any) -> list[URLPattern]:
        view = page.admin_site.admin_view
        return [
            path(
                f"<uuid:pk>/{kind}/", view(partial(act_on_charge, kind=kind, page=page)), name=f"payments_charge_{kind}"
            )
            for kind in ACTIONS
        ]

    def buttons(self, page: Any, request: HttpRequest, row: Charge) -> list[ActionButton]:
        return [act for offer in self.offers for act in offer(request, row)]
