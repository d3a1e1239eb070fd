"""No form and no query of the admin keeps a card number, and none answers 500, whatever is written into it."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import unescape
from itertools import cycle, islice
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client

from payments.admin.framework.base import NEW_ROWS_MAX
from tests.admin.forms import Form, addresses, forms_of
from tests.admin.test_pages import newest  # noqa: F401  one of everything
from tests.canaries.misplaced import NUMBER
from tests.canaries.service import card_numbers_kept, is_in
from tests.figures.inputs.card_texts import DISGUISES
from tests.undone import undone

pytestmark = pytest.mark.long

# What no column takes, and the ends of every type.
TEXTS = ("a\0b", "", "x" * 5000, "9" * 400, "-9223372036854775809", "1e400")
MOMENTS = ("a\0b", "0001-01-01", "9999-12-31", "0000-00-00", "9999-12-31T23:59:59.999Z")
IN_QUERIES = ("99999999999999999999", "9999-12-31", "0001-01-01", "9999-12-31 23:59:59+00:00", "a\0b", NUMBER)
# What pages and lists read, beside the names in their links.
QUERY = frozenset(("q", "p", "o", "e", "mode", "next", "since", "until"))
# Addresses of each list and row that have no forms but those of every page.
WITHOUT_FORMS = ("/history/", "/csv/", "/saveview/", "/dropview/")
PARAMETERS = re.compile(r'href="\?([^"#]+)"')


def forms(client: Client, pages: list[str]) -> Iterator[Form]:
    """Yield each form of each page once."""
    seen = set()
    for address in [page for page in pages if not page.endswith(WITHOUT_FORMS)]:
        answer = client.get(address)
        if answer.status_code == 200 and "text/html" in answer.headers["Content-Type"]:
            for form in forms_of(address, answer.content.decode()):
                key = (form.action.partition("?")[0], form.method, tuple(sorted(form.values)))
                if key not in seen:
                    seen.add(key)
                    yield form


def asked(ask: Callable[[], Any]) -> Any:
    """Return the answer; what was done is undone."""
    with undone():
        return ask()


@pytest.fixture
def visitor(operator: Client) -> Client:
    """Return the signed-in operator, who is answered with 500 where a view raises."""
    operator.raise_request_exception = False
    return operator


@pytest.mark.parametrize("disguise", DISGUISES)
def test_the_search_of_the_database_finds_each_disguise(disguise: str) -> None:
    assert is_in(f"paid by {DISGUISES[disguise](NUMBER)}, thanks")


def test_no_form_keeps_a_card_number_or_answers_500_at_an_end_of_any_type(
    newest: Mapping[type[Model], Model],  # noqa: F811
    visitor: Client,
) -> None:
    texts, disguises, faults, shown, written = cycle(TEXTS), cycle(DISGUISES.values()), [], [], 0
    for form in forms(visitor, addresses(newest)):
        for name, kind in {**dict.fromkeys(form.hidden, "text"), **form.typed}.items():
            ends = MOMENTS if kind.startswith("date") else islice(texts, 2)
            answers = {text: asked(partial(form.send, visitor, {name: text})) for text in ends}
            number, written = next(disguises)(NUMBER), written + 1
            # What this one does is not undone: it is looked for at the end.
            answers[number] = form.send(visitor, {name: number})
            shown += [(form.action, name)] * is_in(answers[number].content.decode())
            faults += [(form.action, form.method, name, text) for text in answers if answers[text].status_code >= 500]
    assert written > 150
    assert shown == [], "\n".join(map(str, shown))
    assert faults == []
    assert card_numbers_kept() == []


def test_a_form_that_names_very_many_rows_is_refused_at_once(visitor: Client) -> None:
    address = f"/admin/auth/user/{User.objects.get().pk}/change/?edit=1"
    [form] = [one for one in forms(visitor, [address]) if "merchant_access-TOTAL_FORMS" in one.values]
    answer = form.send(visitor, {"merchant_access-TOTAL_FORMS": "999999999"})
    assert answer.status_code == 200
    assert f"Please submit at most {NEW_ROWS_MAX} forms." in answer.content.decode()


def test_no_query_answers_500_or_is_kept(newest: Mapping[type[Model], Model], visitor: Client) -> None:  # noqa: F811
    faults, all_texts, ends = [], cycle(IN_QUERIES), cycle(IN_QUERIES[:-2])
    for address in addresses(newest):
        answer = visitor.get(address)
        if answer.status_code >= 400:
            continue
        names = parameters_of(answer)
        queries = [dict.fromkeys(QUERY | names, next(all_texts)), *({name: next(ends)} for name in sorted(names))]
        faults += [(address, query) for query in queries if _fails(visitor, address, query)]
    assert faults == []
    assert card_numbers_kept() == []


def _fails(client: Client, address: str, query: Mapping[str, str]) -> bool:
    return bool(asked(partial(client.get, address, query)).status_code >= 500)


def parameters_of(answer: Any) -> set[str]:
    """Return the names that the links of a list have in their queries; none of another page."""
    if answer.status_code != 200 or "text/html" not in answer.headers["Content-Type"]:
        return set()
    links = PARAMETERS.findall(answer.content.decode())
    return {name for link in links for name, _ in parse_qsl(unescape(link), keep_blank_values=True)}
