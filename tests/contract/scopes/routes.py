"""Every route of `/v2` as the URL resolver knows it, filled in with objects that somebody has."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse

from payments.api.schema.document import document
from tests.checkout.cast import billed, opened
from tests.checkout.shelf import linked
from tests.client import Api, made
from tests.contract.calls import (
    ENDPOINT,
    customer,
    new_payout,
    new_transaction,
    newest_event,
    newest_request,
    nobodys,
    proven,
    with_evidence,
)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
PUBLIC_ID = re.compile(r"(src|ch|dp|po|txn|cus|evt|req|we|cs|pr|plink)_[0-9a-f]{32}")
OF_PREFIX = {
    **{"src": "source", "ch": "charge", "dp": "dispute", "po": "payout", "txn": "transaction"},
    **{"cus": "customer", "evt": "event", "req": "request", "we": "endpoint"},
    **{"cs": "checkout-session", "pr": "payment-request", "plink": "payment-link"},
}
# By what a path calls it: "pk" of a charge is "charge", other parts have names of their own.
Things = dict[str, str]


@dataclass(frozen=True)
class Route:
    """One path; `actions` are the view's methods by HTTP method, `parts` the names of what is to be filled in."""

    name: str
    view: Any
    actions: dict[str, str]
    parts: dict[str, str]

    @property
    def methods(self) -> list[str]:
        """Those that it answers."""
        return [*self.actions, *(["HEAD"] if "GET" in self.actions else [])]

    def right_for(self, method: str) -> str:
        return self.view.right_for(self.actions["GET" if method == "HEAD" else method], method)

    def names_things(self, method: str) -> bool:
        """Whether a request says which object it is about."""
        return bool(self.parts) or PUBLIC_ID.search(json.dumps(self.body_for(method))) is not None

    def body_for(self, method: str) -> Any:
        """Return the body of the first example that the document has of this call; None where it takes none."""
        return body_of(method, self.name) if method in self.actions else None

    @property
    def text_filters(self) -> list[str]:
        """The query parameters of a GET that take any text, and so an ID."""
        parameters = _operations()["GET", self.name].get("parameters", []) if "GET" in self.actions else []
        return [parameter["name"] for parameter in parameters if _is_text_filter(parameter)]

    def path(self, things: Things) -> str:
        """Return the path of a request about these things, below /v2."""
        return reverse(self.name, kwargs={name: things[thing] for name, thing in self.parts.items()}).removeprefix(
            "/v2"
        )

    def ask(self, api: Api, method: str, things: Things, **headers: str) -> HttpResponse:
        """Return the answer to a request about these things, with the body of the documented example."""
        # A request is collected by a card that its customer keeps.
        named = things | {"source": things["source_id"]} if self.name == "payment-request-collect" else things
        return api.send(method, self.path(things), _about(self.body_for(method), named), headers)


def routes() -> list[Route]:
    """All that ask for a key."""
    return [_route(pattern) for _, pattern in _patterns() if hasattr(pattern.callback, "actions")]


def keyless_routes() -> list[str]:
    """Those whose view is no viewset."""
    return [text for text, pattern in _patterns() if not hasattr(pattern.callback, "actions")]


def things_of(api: Api) -> Things:
    """One of everything, new, of the merchant of `api`."""
    keeper = customer(api, email=f"{nobodys('of')}@shop.example")
    agreed = {"text": "You may charge my card.", "at": "2026-11-20"}
    kept = made(api.post(f"/customers/{keeper['id']}/sources", {"source": api.source(), "consent": agreed}))
    return {
        "customer": keeper["id"],
        "email": keeper["email"],
        "source_id": kept["sources"][0]["id"],
        "charge": api.held()["id"],
        "checkout-session": opened(api)["id"],
        "payment-request": billed(api, customer=keeper["id"])["id"],
        "payment-link": linked(api)["id"],
        "dispute": with_evidence(api),
        "payout": new_payout(api),
        "transaction": new_transaction(api),
        "proof": proven(api),
        "event": newest_event(api),
        "request": newest_request(api),
        "endpoint": made(api.post("/webhook_endpoints/", ENDPOINT))["id"],
        "source": api.source(),
    }


def nobodys_things(things: Things) -> Things:
    """Return IDs of the same kinds that nobody has."""
    return {name: _nobodys(text) for name, text in things.items()}


@cache
def body_of(method: str, name: str) -> Any:
    content = _operations()[method, name].get("requestBody", {}).get("content", {})
    examples = content.get("application/json", {}).get("examples", {})
    return next((example["value"] for example in examples.values()), None)


def _nobodys(text: str) -> str:
    prefix, _, _ = text.partition("_")
    _, at, host = text.partition("@")
    return f"{nobodys(prefix)}{at}{host}"


@cache
def _operations() -> dict[tuple[str, str], Any]:
    paths = json.loads(document())["paths"]
    return {
        (method.upper(), resolve(re.sub(r"{\w+}", "x", path)).view_name): operation
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


def _about(body: Any, things: Things) -> Any:
    if body is None:
        return None
    return json.loads(PUBLIC_ID.sub(lambda match: things[OF_PREFIX[match[1]]], json.dumps(body)))


def _is_text_filter(parameter: dict[str, Any]) -> bool:
    schema = parameter["schema"]
    return parameter["in"] == "query" and schema["type"] == "string" and not schema.keys() & {"enum", "pattern"}


def _patterns() -> list[tuple[str, URLPattern]]:
    everything = below(get_resolver().url_patterns, "")
    return [(text, pattern) for text, pattern in everything if text.startswith("v2")]


def below(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, URLPattern]]:
    """Every pattern that leads to a view, with the whole text of the patterns on the way to it."""
    for pattern in patterns:
        text = prefix + str(pattern.pattern).removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from below(pattern.url_patterns, text)
        else:
            yield text, pattern


def _route(pattern: URLPattern) -> Route:
    view: Any = pattern.callback
    # HEAD is bound along with GET once somebody has asked.
    actions = {method.upper(): action for method, action in view.actions.items() if method != "head"}
    own = view.initkwargs.get("basename", "")
    parts = {name: own if name == "pk" else name for name in pattern.pattern.regex.groupindex}
    return Route(str(pattern.name), view.cls, actions, parts)
