"""Search for charges by text: a provider's reference, words of the description, a customer's e-mail address."""

from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from payments.admin.framework.id_search import IdSearch
from payments.db.text_search import has_words
from payments.models import Attempt

# Functions that find the IDs of sources by a text. The customers app adds one.
SOURCE_SEARCHES: list[Callable[[str], QuerySet[Any]]] = []


class ChargeSearch(IdSearch):
    """A search that takes a text for a name first and for words of the description otherwise."""

    search_fields = ("description",)
    search_help_text = (
        "Any ID, whole, a card's last four digits, a customer's e-mail address, a provider's reference, or words of "
        "the description, of which the last may be cut short."
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term or any(self.conditions(term)):
            return super().get_search_results(request, queryset, search_term)
        condition = named_by(term) or has_words("description", term)
        return (queryset.none() if condition is None else queryset.filter(condition)), False

    def is_found_by_index(self, term: str) -> bool:
        return True


def named_by(text: str) -> Q | None:
    """Return the condition for charges whose provider reference or source `text` names; None without any."""
    attempts = Attempt.objects.filter(provider_ref=text)
    if attempts.exclude(provider_ref="").exists():
        return Q(pk__in=attempts.exclude(provider_ref="").values("charge_id"))
    found = (search(text) for search in SOURCE_SEARCHES)
    return next((Q(source_id__in=sources) for sources in found if sources.exists()), None)
