"""What is offered on the page of a charge, which other features add to."""

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest

from payments.admin.charges.charge_list import SearchByCard
from payments.admin.framework.object_actions import ActionButton, Part
from payments.admin.operators.bulk_actions import TOGETHER
from payments.admin.operators.pages import ON_ONE
from payments.models import Charge

Offer = Callable[[HttpRequest, Any], Iterable[ActionButton]]
on_charges: list[Part] = [SearchByCard(), *ON_ONE, *TOGETHER]


class Offers(Part):
    """Buttons that lead to actions of other pages, for operators."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer

    def buttons(self, page: Any, request: HttpRequest, row: Charge) -> list[ActionButton]:
        return list(self.offer(request, row))


def offered_on_charges(offer: Any) -> Any:
    """Have the page of a charge offer an action, or further buttons, and return it."""
    on_charges.append(offer() if isinstance(offer, type) else Offers(offer))
    return offer
