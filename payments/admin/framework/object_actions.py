"""Buttons on a row's page, and the pages of their forms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.response import TemplateResponse

from payments.admin.lists.mode import mode_of_row

Facts = Iterable[tuple[Any, object]]


@dataclass(frozen=True, slots=True)
class ActionButton:
    """A button on a row's page: a link to a form, or a `POST` where no form is needed."""

    label: Any
    url: str
    posts: bool = False
    gives_back: bool = False


@dataclass(frozen=True, slots=True)
class Consequence:
    """The consequence of an action in words, and whether it gives the merchant's money back to a payer."""

    words: Any
    gives_back: bool = False


def operator_of(request: HttpRequest) -> User:
    """Return the signed-in operator; the admin admits nobody else."""
    return cast(User, request.user)


def form_page(
    request: HttpRequest,
    page: admin.ModelAdmin,
    title: Any,
    facts: Facts,
    form: forms.BaseForm,
    buttons: Sequence[tuple[str, Any]],
    consequence: Consequence | None = None,
    about: Any = None,
    mode: str | None = None,
) -> TemplateResponse:
    """Return a page with the consequence, the facts and the form of an action, and a button for each (value, label).

    The page names the `mode`, or that of the row that it is `about` or of its charge.
    """
    lookup = "livemode" if hasattr(about, "livemode") else "charge__livemode"
    context = page.admin_site.each_context(request) | {
        "title": title,
        "row": about if isinstance(about, page.model) else None,
        "mode_of_row": mode or mode_of_row(about, lookup),
        "consequence": consequence,
        "opts": page.opts,
        "called": cast(Any, page).words[0],
        "facts": facts,
        "form": form,
        "buttons": buttons,
        "media": page.media + form.media,
    }
    return TemplateResponse(request, "admin/payments/act.html", context)


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
