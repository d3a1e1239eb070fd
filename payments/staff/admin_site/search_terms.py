"""What a page's request may hold: no name twice or card number in its address, and nothing that PostgreSQL refuses."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from payments.db.texts.writes import CARD_NUMBER, UNSTORABLE, TextRefused, is_storable, storable
from payments.sensitive_data.card_numbers import holds_taken_card
from payments.web.environ import GetResponse, is_api

REFUSED = _("Search for a card by its last four digits, never by its number, and for at most 200 characters.")
REPEATED = "The address gives a value twice under one name. Open the page again from the one before."
TERM, TERM_MAX_LENGTH = "q", 200


class PlainRequests:
    """Middleware for all pages: what has a card number or a name twice in its address, or a text that cannot be stored,
    reaches no view.

    Of a name that is given twice, Django takes the last value, and a browser's script the first: one would check what
    the other does not use. The API refuses such an address too, by `query_of`.

    A search for such a text finds nothing: its characters are replaced by one that no row has. What a form is about
    to store is looked at by the form and by the write.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: Any) -> HttpResponse | None:
        """Return the response for a search that is refused; raise Http404 and TextRefused for other texts."""
        if is_api(request):
            return None
        if not is_storable(request.path_info) or holds_taken_card(request.path_info):
            raise Http404
        if any(len(values) > 1 for _, values in request.GET.lists()):
            raise TextRefused(REPEATED)
        request.GET = _searchable(request.GET)  # type: ignore[assignment] # Django lets it be set
        term = request.GET.get(TERM, "")
        if len(term) > TERM_MAX_LENGTH or holds_taken_card(term):
            messages.warning(request, REFUSED)
            return redirect(request.path)
        _refuse(request.GET, CARD_NUMBER, holds_taken_card)
        # A view that is exempt reads its form by itself, with a file in it.
        if request.method == "POST" and not getattr(view, "csrf_exempt", False):
            request.POST = _searchable(request.POST)  # type: ignore[assignment]
        return None


def _searchable(query: QueryDict) -> QueryDict:
    """Return `query` with a search term that can be asked for. Raises TextRefused for any other unstorable text."""
    if all(map(is_storable, query.getlist(TERM))):
        _refuse(query, UNSTORABLE, _is_unstorable)
        return query
    changed = query.copy()
    changed.setlist(TERM, [storable(term) for term in query.getlist(TERM)])
    _refuse(changed, UNSTORABLE, _is_unstorable)
    return changed


def _refuse(query: QueryDict, problem: str, is_wrong: Callable[[str], bool]) -> None:
    for name, text in _texts(query):
        if is_wrong(text):
            raise TextRefused(problem if is_wrong(name) else f"{name[:TERM_MAX_LENGTH]}: {problem}")


def _is_unstorable(text: str) -> bool:
    return not is_storable(text)


def _texts(query: QueryDict) -> Iterator[tuple[str, str]]:
    """Yield each name with itself and with each of its values."""
    for name, values in query.lists():
        yield from ((name, text) for text in (name, *values) if isinstance(text, str))
