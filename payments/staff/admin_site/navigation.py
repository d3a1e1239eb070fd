"""The navigation: a dozen sections at most, and the pages of the present one as tabs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from payments.inbox.decisions import MAY_SEE


@dataclass(frozen=True)
class Section:
    """A link of the navigation, which leads to the first of its pages that an operator may see.

    A page is a model's list (`app.model`, or `app.model?filter`), or the name of an address.
    """

    name: str
    icon: str
    pages: tuple[str, ...]


NAMES = {
    "index": "Home",
    "inbox": "Inbox",
    "on_call": "On call",
    "balance": "Balance",
    "rehearse": "Rehearse",
    "payments_approvalrequest_waiting": "Waiting for approval",
    "payments.charge?money=held": "Holds",
}


def section(name: str, icon: str, pages: str) -> Section:
    """Return a section with the pages that a text names, where `charge` stands for `payments.charge`."""
    whole = (page if page in NAMES or "." in page else f"payments.{page}" for page in pages.split())
    return Section(name, icon, tuple(whole))


# The sections by their headings.
SECTIONS: Mapping[str, Sequence[Section]] = {
    "": (
        section("Home", "home", "index"),
        section(
            "Inbox",
            "inbox",
            "inbox approvalrequest operatoraction case assistantcall unknownoutcome declinealert on_call",
        ),
    ),
    "Payments": (
        section("Payments", "card", "charge refund checkout paymentlink source card attempt"),
        section("Customers", "people", "customers.customer payermessage"),
        section("Disputes", "flag", "dispute"),
    ),
    "Money": (
        section("Payouts", "bank", "payout payoutfile payoutschedule payoutaccount"),
        section(
            "Reconciliation",
            "scale",
            "reconciliationitem reconciliationrun reportupload reportline filelayout ownbankaccount settlement "
            "correction",
        ),
        section("Reports", "report", "statement ledgerday account posting moneycheck fileschedule"),
    ),
    "Service": (
        section("Merchants", "shop", "merchant feetemplate provideraccount route block"),
        section(
            "Developers",
            "code",
            "apikey webhookendpoint webhook webhooksecret apirequest event providermessage idempotencyrecord",
        ),
        section("Settings", "sliders", "auth.user approvallimit auditentry binrange datakey"),
        section(
            "Simulator",
            "dice",
            "simulator.simulatedpayment simulator.simulatedoperation simulator.simulatedpayout simulator.entry "
            "simulator.message",
        ),
    ),
}
# Whom a page without a model is for; it is for every operator otherwise.
PERMISSIONS = {
    "on_call": ("payments.view_sweep", "payments.work_for_all_merchants"),
    "balance": ("payments.view_payout",),
    "rehearse": ("payments.view_apikey",),
    "payments_approvalrequest_waiting": (MAY_SEE,),
}


@dataclass(frozen=True)
class Tab:
    """A page of a section; `current` is the value of `aria-current`, and `query` the filter of a list."""

    name: str
    view: str
    current: str = ""
    query: str = ""

    @property
    def address(self) -> str:
        return reverse(f"admin:{self.view}") + (self.query and f"?{self.query}")


@dataclass(frozen=True)
class Link:
    """A section as an operator sees it: its `first` page, and those `after` it, which an open section shows."""

    section: Section
    first: Tab
    after: Iterator[Tab]
    here: str

    @property
    def address(self) -> str:
        return self.first.address

    @cached_property
    def tabs(self) -> Sequence[Tab]:
        return [self.first, *self.after]

    @cached_property
    def current(self) -> str:
        if not self.here.startswith(tuple(name.partition("?")[0].replace(".", "_") for name in self.section.pages)):
            return ""
        return "page" if self.first.current == "page" else "true" if any(tab.current for tab in self.tabs) else ""


@dataclass(frozen=True)
class Navigation:
    """What an operator may see, and where they are."""

    groups: Mapping[str, Sequence[Link]]

    @property
    def present(self) -> Link | None:
        """Return the section of this page; None where it is in none."""
        return next((link for links in self.groups.values() for link in links if link.current), None)

    @property
    def back(self) -> Tab | None:
        """Return the list that this page is below; None where it is below none."""
        tabs = self.present.tabs if self.present else ()
        return next((tab for tab in tabs if tab.current == "true"), None)

    @property
    def has_lists(self) -> bool:
        """Return whether the operator may see anything but their own pages."""
        return any(
            tab.view.endswith("_changelist") for links in self.groups.values() for each in links for tab in each.tabs
        )


def navigation(
    sections: Mapping[str, Sequence[Section]], registered: Iterable[Any], request: HttpRequest
) -> Navigation:
    """Return the `sections`, each with those of the `registered` pages that the user of `request` may see."""
    pages = {page.opts.label_lower: page for page in registered}
    here = (request.resolver_match and request.resolver_match.url_name) or ""
    groups: dict[str, list[Link]] = {}
    for heading, below in sections.items():
        for section in below:
            tabs = _tabs(section, pages, here, request)
            if first := next(tabs, None):
                groups.setdefault(heading, []).append(Link(section, first, tabs, here))
    return Navigation(groups)


def _tabs(section: Section, pages: Mapping[str, Any], here: str, request: HttpRequest) -> Iterator[Tab]:
    user: Any = request.user
    chosen = request.GET.urlencode()
    for name in section.pages:
        model, _, query = name.partition("?")
        page = pages.get(model)
        if page and page.has_module_permission(request) and page.has_view_or_change_permission(request):
            prefix = f"{page.opts.app_label}_{page.opts.model_name}_"
            view = f"{prefix}changelist"
            is_list = here == view or (page.has_one_row and here == f"{prefix}change" and "edit" not in request.GET)
            current = "page" if is_list else "true" if here.startswith(prefix) and here not in section.pages else ""
            if query != chosen and (query or f"{model}?{chosen}" in section.pages):
                current = ""
            yield Tab(gettext(NAMES[name]) if name in NAMES else capfirst(page.words[1]), view, current, query)
        elif "." not in name and user.has_perms(PERMISSIONS.get(name, ())):
            yield Tab(gettext(NAMES[name]), name, "page" if here == name else "")
