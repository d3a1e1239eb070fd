"""Buttons on a row's page, and the pages of their forms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse

from payments.admin.lists.mode import mode_of_row

Facts = Iterable[tuple[Any, object]]
Buttons = Sequence[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class ActionButton:
    """A button on a row's page: a link to a form, or a `POST` where no form is needed."""

    label: Any
    url: str
    posts: bool = False
    gives_back: bool = False


class Part:
    """Something that some pages have beside their list and fields: each method is given the page."""

    # Whether merchants' people have it on their pages, too.
    for_merchants = False

    def urls(self, page: Any) -> list[URLPattern]:
        """Return the addresses of the part."""
        return []

    def buttons(self, page: Any, request: HttpRequest, row: Any) -> list[ActionButton]:
        """Return its buttons above `row`."""
        return []

    def buttons_above(self, page: Any, request: HttpRequest) -> list[ActionButton]:
        """Return its buttons above the list."""
        return []

    def of_list(self, page: Any, request: HttpRequest) -> dict[str, Any]:
        """Return what can be done to chosen rows of the list, as Django has it."""
        return {}

    def people(self, page: Any, request: HttpRequest, row: Any) -> Sequence[Any]:
        """Return whom `row` is about, as the page of an action on it shows them."""
        return ()

    def beside_row(self, page: Any, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what the template of the page of `row` shows of it."""
        return {}

    def beside_list(self, page: Any, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Return what the template of the list shows of it."""
        return {}


def name_of(page: admin.ModelAdmin, name: str) -> str:
    """Return what the address `name` of a page is called."""
    return f"{page.opts.app_label}_{page.opts.model_name}_{name}"


def address_of(page: admin.ModelAdmin, name: str, *of_row: Any) -> str:
    """Return the address `name` of a page, of a row if one is given."""
    return reverse(f"admin:{name_of(page, name)}", args=of_row)


@dataclass(frozen=True, slots=True)
class Move:
    """A line of what an action moves: from or to where, how much, and what else is to know of it."""

    title: Any
    amount: str
    note: Any = ""
    is_now: bool = False


def operator_of(request: HttpRequest) -> User:
    """Return the signed-in operator; the admin admits nobody else."""
    return cast(User, request.user)


def form_page(request: HttpRequest, page: Any, row: Any, seen: Mapping[str, Any]) -> TemplateResponse:
    """Return the page of an action on `row` as it is `seen`: title, facts, form, buttons and more, with a way back."""
    is_row = isinstance(row, page.model)
    lookup = "livemode" if hasattr(row, "livemode") else "charge__livemode"
    context = page.admin_site.each_context(request) | {
        "row": row if is_row else None,
        "back": page.page_after(row),
        "called": page.headline(row) if is_row else page.words[1],
        "people": page.people_beside(request, row) if is_row else (),
        "mode_of_row": seen.get("mode") or mode_of_row(row, lookup),
        "opts": page.opts,
        "media": page.media + seen["form"].media,
    }
    return TemplateResponse(request, "admin/payments/act.html", context | dict(seen))


def shown_once(
    request: HttpRequest, page: admin.ModelAdmin, title: str, secrets: Mapping[Any, str], onward: str
) -> TemplateResponse:
    """Return the page that shows `secrets`, by name, and a link `onward`.

    Like every page of the admin it is not stored by browsers or proxies.
    """
    context = page.admin_site.each_context(request) | {
        "title": title,
        "opts": page.opts,
        "secrets": secrets,
        "onward": onward,
        "media": page.media,
    }
    return TemplateResponse(request, "admin/payments/shown_once.html", context)
