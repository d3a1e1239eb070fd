"""What operators do about a row: offered on its page, done by POST, and told to the audit log with what and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.response import TemplateResponse

Facts = Iterable[tuple[str, object]]


@dataclass(frozen=True, slots=True)
class Act:
    """A button on a row's page: a link to a form, or a `POST` where nothing is to be said."""

    label: str
    url: str
    posts: bool = False
    gives_back: bool = False


@dataclass(frozen=True, slots=True)
class Consequence:
    """What an act will do, in words, and whether the merchant's money goes back to a payer by it."""

    words: str
    gives_back: bool = False


def operator_of(request: HttpRequest) -> User:
    """Who acts; the admin lets nobody through who is not signed in."""
    return cast(User, request.user)


def form_page(
    request: HttpRequest,
    page: admin.ModelAdmin,
    title: str,
    facts: Facts,
    form: forms.BaseForm,
    buttons: Sequence[tuple[str, str]],
    consequence: Consequence | None = None,
) -> TemplateResponse:
    """A page with what an act will do and is about, the form that it wants, and a button for each (value, label)."""
    context = page.admin_site.each_context(request) | {
        "title": title,
        "consequence": consequence,
        "opts": page.opts,
        "facts": facts,
        "form": form,
        "buttons": buttons,
        "media": page.media + form.media,
    }
    return TemplateResponse(request, "admin/payments/act.html", context)


def shown_once(
    request: HttpRequest, page: admin.ModelAdmin, title: str, secrets: Mapping[str, str], onward: str
) -> TemplateResponse:
    """The answer to the form that made `secrets`, by name; `onward` is where its reader goes next.

    Like every page of the admin it may be kept by no browser and no proxy.
    """
    context = page.admin_site.each_context(request) | {
        "title": title,
        "opts": page.opts,
        "secrets": secrets,
        "onward": onward,
        "media": page.media,
    }
    return TemplateResponse(request, "admin/payments/shown_once.html", context)
