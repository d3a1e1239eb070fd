"""Card numbers in the search box: whatever is searched for stands in addresses, and perhaps in the database's log."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from payments.luhn import holds_card_number

Page = Callable[..., HttpResponse]
REFUSED = "Search for a card by its last four digits, never by its number."


def without_card_numbers(page: Page) -> Page:
    """`page`, which no card number is searched for on: the list is shown whole instead, and says why."""

    @wraps(page)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not any(map(holds_card_number, request.GET.getlist("q"))):
            return page(request, *args, **kwargs)
        messages.warning(request, REFUSED)
        return redirect(request.path)

    return answer
