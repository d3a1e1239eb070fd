"""Refusal of card numbers as search terms, which would appear in URLs and perhaps in the database's log."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from payments.sensitive_data.card_numbers import holds_card_number

Page = Callable[..., HttpResponse]
REFUSED = "Search for a card by its last four digits, never by its number, and for at most 200 characters."
TERM_MAX_LENGTH = 200


def without_card_numbers(page: Page) -> Page:
    """Return `page` as a view that answers a search for a card number with the whole list and a warning."""

    @wraps(page)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not any(len(term) > TERM_MAX_LENGTH or holds_card_number(term) for term in request.GET.getlist("q")):
            return page(request, *args, **kwargs)
        messages.warning(request, REFUSED)
        return redirect(request.path)

    return answer
