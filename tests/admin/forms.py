"""Every page of the admin, from the resolver, and every form on it, as a browser would send it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

Values = dict[str, Any]
# They end the operator's session, or change the mode of all lists.
NEVER_SENT = ("/admin/logout/",)
# Inputs into which a browser lets nobody write.
NOT_TYPED = ("hidden", "checkbox", "radio", "submit", "button", "file", "password", "image", "reset")


@dataclass
class Form:
    """A form of a page: where it leads, and its inputs with their first values.

    `typed` are those one writes into, `offered` the values of those one chooses from.
    """

    action: str
    method: str
    values: Values = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    offered: dict[str, list[str]] = field(default_factory=dict)

    def send(self, client: Client, changed: Mapping[str, Any]) -> Any:
        values = {**self.values, **changed}
        return client.post(self.action, values) if self.method == "post" else client.get(self.action, values)


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.forms: list[Form] = []
        self._open: Form | None = None
        self._by_id: dict[str, Form] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = urljoin(self.address, has.get("action", "")).partition("#")[0]
            self._open = Form(action, has.get("method", "get").lower())
            self._by_id[has.get("id", "")] = self._open
            self.forms.append(self._open)
        form = self._by_id.get(has["form"]) if "form" in has else self._open
        if form is not None:
            self._take(form, tag, has)

    def _take(self, form: Form, tag: str, has: Mapping[str, str]) -> None:
        name, kind = has.get("name", ""), has.get("type", "text") if tag == "input" else tag
        if tag == "select":
            self._select = name
        if tag == "option" and self._select and (has.get("value") or "selected" in has):
            chosen = "selected" in has or not form.values.get(self._select)
            form.values.update({self._select: has["value"]} if chosen else {})
        self._note_what_is_offered(form, kind, has)
        if not name or tag not in ("input", "textarea") or name == "csrfmiddlewaretoken":
            return
        if kind in ("checkbox", "radio") and "checked" not in has and name in form.values:
            return
        if kind not in ("file",):
            form.values.setdefault(name, has.get("value", ""))
        if kind == "hidden":
            form.hidden.append(name)
        if kind not in NOT_TYPED:
            form.typed[name] = kind

    def _note_what_is_offered(self, form: Form, kind: str, has: Mapping[str, str]) -> None:
        name = self._select if kind == "option" else has.get("name") if kind in ("checkbox", "radio") else ""
        if name:
            form.offered.setdefault(name, []).append(has.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        if tag == "select":
            self._select = ""


def forms_of(address: str, text: str) -> list[Form]:
    """Return the forms of a page, but those that end the session."""
    reader = _Reader(address)
    reader.feed(text)
    return [form for form in reader.forms if not form.action.startswith(NEVER_SENT)]


def addresses(newest: Mapping[type[Model], Model]) -> list[str]:
    """Return the address of every view of the admin, of the newest row where it is about one."""
    found = sorted({*addresses_below("/admin/", newest)} - {*NEVER_SENT})
    assert len(found) > 200
    changed = [model._meta for model, page in admin.site._registry.items() if getattr(page, "is_edited", False)]
    pages = tuple(f"/admin/{one.app_label}/{one.model_name}/" for one in changed)
    return [*found, *(f"{one}?edit=1" for one in found if one.startswith(pages) and one.endswith("/change/"))]


def addresses_below(prefix: str, newest: Mapping[type[Model], Model], urlconf: str | None = None) -> Iterator[str]:
    """Yield the address of every view below `prefix`, of the newest row where it is about one."""
    for part in get_resolver(urlconf).url_patterns:
        if f"/{part.pattern}" == prefix:
            yield from _below(part, prefix, newest)


def _below(part: Any, prefix: str, newest: Mapping[type[Model], Model]) -> Iterator[str]:
    for pattern in part.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _below(pattern, prefix + str(pattern.pattern).lstrip("^"), newest)
        elif address := _address(pattern, prefix, newest):
            yield address


def _address(pattern: URLPattern, prefix: str, newest: Mapping[type[Model], Model]) -> str:
    """Return the address of one view; "" for Django's patterns that only lead to others."""
    route = str(pattern.pattern)
    if route.startswith(("^", "(")) or "(?P" in route:
        return ""
    model = next((one for one in newest if prefix.endswith(f"/{one._meta.label_lower.replace('.', '/')}/")), None)
    row = newest.get(model) if model else None
    for name, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__.removesuffix("Converter").lower()
        value = str(row.pk) if row is not None and name in ("object_id", "pk") else _some(kind)
        for written in (f"<{kind}:{name}>", f"<{name}>"):
            route = route.replace(written, value)
    return prefix + route


def _some(kind: str) -> str:
    # Keys that no row has, however many were made.
    return {"uuid": str(UUID(int=7)), "int": "2147483647"}.get(kind, "x")
