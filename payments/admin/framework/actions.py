"""Actions on a row, on chosen rows, or that make something: a form says what will happen, and one verb does it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from payments.admin.facts import ID
from payments.admin.file_forms import FORM_BYTES, is_too_long, takes_file, with_file
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import (
    ActionButton,
    Buttons,
    Facts,
    Part,
    address_of,
    form_page,
    name_of,
    operator_of,
    shown_once,
)
from payments.admin.framework.reason_form import ReasonForm
from payments.concurrency.long_bodies import BodyLimits, Uploads
from payments.context import because
from payments.domain.catalogue.refusal_texts import translated
from payments.domain.shared.verbs import Verb
from payments.inbox.entries import Entry
from payments.inbox.sorts import OF_MERCHANTS, SORTS
from payments.models import ApprovalRequest, Merchant

SENT_BEFORE = _("This form was sent before. Its result was shown then, and is not shown again.")
REQUESTED = _("Requested. Nothing is changed before somebody other than you approves it.")
# Of the rows that wait for the same action, to find the next.
MOST_READ = 10
# Whom a form that is sent names its button by.
DECISION = "decision"


@dataclass(frozen=True, slots=True)
class Result:
    """What an action did, in words, and whose page or which address shows it: by default that of what it was about.

    A `warning` says what was not done. `secrets`, by their names, are shown once, on the way there.
    """

    text: Any
    about: Model | str | None = None
    level: int = messages.SUCCESS
    warning: Any = ""
    secrets: Mapping[Any, str] = field(default_factory=dict)


# The words of a success, secrets by name to show once, the request that waits for approval, or a file.
Done = str | Mapping[str, str] | ApprovalRequest | Result | HttpResponseBase


class Action(Part, ABC):
    """One action: whom it is for, its form and what it does. What it is about is a row, unless it `is_new`.

    `name` is used in addresses, `label` on the button to the form, and `button` on its submit button, by default the
    same. After one of `refusals` the form says why; `too_late` has the warning where somebody else was first, and
    `over` the one in place of the form where the action does not fit any more. `what_happens` is the last of the facts,
    and `warning` stands above the button. The form takes a file of at most `file_bytes`, 0 for none. What it makes has
    the ID of its form, in one of the models `makes`.
    """

    name: str
    label: Any
    button: Any = ""
    permission: str
    form: type[forms.Form] = ReasonForm
    refusals: tuple[type[Exception], ...] = ()
    # What the form says of a refusal, with its own words as `fault`, which it says by default.
    refused_as: Mapping[type[Exception], str] = MappingProxyType({})
    too_late: Mapping[type[Exception], Any] = MappingProxyType({})
    over: Any = ""
    what_happens: Any = ""
    warning: Any = ""
    # Whether it gives the merchant's money back to a payer.
    gives_back = False
    # A form with a file may take so long, and so many are read at once.
    file_bytes, file_seconds, most_files = 0, 60, 4
    too_large: Any = _("The file is larger than {size}.")
    makes: Sequence[type[Model]] = ()
    sent_before: Any = SENT_BEFORE
    # Whether the password is asked for again, where it was not given a short while ago.
    asks_password = False
    # Whether only those may who work for all merchants.
    is_for_all_merchants = False
    # Whether its button acts at once, without a form.
    asks_nothing = False
    # Whether its page is that of a new row, in which case it is about the merchant whose site is open.
    is_new = False
    new_name = "add"

    def __init_subclass__(cls, verb: Verb | None = None) -> None:
        """Take name, label, permission and consequence of the `verb` that it does, if other doors have it too."""
        if verb:
            cls.name, cls.label, cls.permission, cls.what_happens = verb.name, verb.label, verb.permission, verb.does

    def __init__(self, **changed: Any) -> None:
        """Take what is `changed` of the class on one page, such as that the page of a new row is the action's."""
        for name, value in changed.items():
            setattr(self, name, value)

    def fits(self, row: Any) -> bool:
        """Return whether the action applies to `row`."""
        return True

    def is_offered_to(self, operator: User, row: Any) -> bool:
        """Return whether this operator may act on `row`, where four eyes are needed."""
        return True

    def question(self, row: Any) -> str:
        """Return the title of the form's page, with the name of the row; an ID is none."""
        is_nameless = (self.is_new and not isinstance(row, Model)) or ID.search(str(row))
        return str(self.label) if is_nameless else f"{self.label}: {row}"

    def form_for(self, row: Any, data: Any) -> forms.Form:
        return forms.Form({}) if self.asks_nothing else self.form(data)

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        """Return the field that `refusal` is about, by default the one that it names; None for the whole form."""
        field = getattr(refusal, "field", "")
        return field if field in form.fields else None

    def facts(self, row: Any) -> Facts:
        """Yield what the action is about, and what will happen."""
        yield from self.about(row)
        if self.what_happens:
            yield _("What happens"), self.what_happens

    def about(self, row: Any) -> Facts:
        """Yield which row it is: by default its merchant, or the merchant itself."""
        owner: Any = getattr(row, "merchant", row)
        if isinstance(owner, Merchant):
            yield _("Merchant"), owner.title

    def notice(self, row: Any, operator: User) -> Any:
        """Return what the operator must know first."""
        return self.warning

    def choices(self, row: Any, form: forms.Form, operator: User) -> Buttons:
        """Return the buttons of the form, each with the value that it sends."""
        return [(self.name, self.button or self.label)]

    def mode_of(self, row: Any, form: forms.Form) -> str | None:
        """Return the mode that the page names; None for that of the row."""
        return None

    @abstractmethod
    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        """Carry the action out with the values of the `form`, `operator`, `page` and `decision`; raise a refusal."""

    def waiting(self, page: Any, request: HttpRequest, row: Any) -> Iterable[Entry]:
        """Return what of the inbox waits for the same action, the most urgent first."""
        sorts = SORTS if page.policy.is_for_operators else OF_MERCHANTS
        at = (page.opts.model_name, self.name.replace("_", "-"))
        sort = next((sort for sort in sorts if (sort.model, sort.step) == at), None)
        return sort.section(limit_of(request), MOST_READ).offered_to(operator_of(request)).entries if sort else ()

    def next_step(self, page: Any, request: HttpRequest, row: Any) -> SafeString | str:
        """Return a link to the next row of the same mode that waits for the action; "" for none."""
        if not isinstance(row, Model) or not hasattr(row, "livemode"):
            return ""
        for entry in self.waiting(page, request, row):
            at = (entry.act_at or entry.address).replace("/admin/", page.admin_site.prefix, 1)
            if entry.livemode == row.livemode and f"{row.pk}" not in at:
                what = ", ".join(filter(None, (f"{entry.act} {entry.amount}".strip(), entry.names, entry.when)))
                return format_html('<a href="{}">{}: {}</a>', at, gettext("Next"), what)
        return ""

    def is_allowed(self, page: Any, request: HttpRequest) -> bool:
        """Return whether the person may act so on any row of the page."""
        is_for = not self.is_for_all_merchants or limit_of(request) is None
        return is_for and operator_of(request).has_perm(self.permission)

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        """Return what the action is about; raise Http404 where this person sees no such row."""
        if self.is_new:
            return page.policy.owner_of_new(request)
        return get_object_or_404(page.get_queryset(request), pk=pk)

    def urls(self, page: Any) -> list[URLPattern]:
        name, of_row = (self.new_name, "") if self.is_new else (self.name, f"<{page.key_converter}:pk>/")
        view = page.admin_site.admin_view(self._view_on(page))
        return [path(f"{of_row}{name.replace('_', '-')}/", view, name=name_of(page, name))]

    def buttons(self, page: Any, request: HttpRequest, row: Any) -> list[ActionButton]:
        if self.is_new or not (self.is_allowed(page, request) and page.may_act_on(request, row) and self.fits(row)):
            return []
        if not self.is_offered_to(operator_of(request), row):
            return []
        address = address_of(page, self.name, row.pk)
        return [ActionButton(self.label, address, posts=self.asks_nothing, gives_back=self.gives_back)]

    def buttons_above(self, page: Any, request: HttpRequest) -> list[ActionButton]:
        may = self.is_new and self.is_allowed(page, request)
        return [ActionButton(self.label, address_of(page, self.new_name))] if may else []

    def _view_on(self, page: Any) -> Callable[..., HttpResponse]:
        view = sensitive_post_parameters()(partial(self.open, page=page))
        if not self.file_bytes:
            return view
        limits = BodyLimits(self.file_bytes + FORM_BYTES, self.file_seconds)
        return takes_file(view, page.admin_site, self.permission, Uploads(limits, self.most_files))

    def open(self, request: HttpRequest, pk: Any = None, *, page: Any) -> HttpResponse:
        """Show the form, or carry the action out. It does not run inside a transaction: a verb has its own."""
        if self.asks_nothing and request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.is_allowed(page, request):
            raise PermissionDenied
        if self.asks_password:
            raise_if_reauthentication_required(request, app="account")
        row = self.find(page, request, pk)
        if not page.may_act_on(request, row):
            raise PermissionDenied
        if self.over and not self.fits(row):
            return _left(page, request, row, Result(self.over, level=messages.WARNING))
        if not self.file_bytes:
            return self.answer(page, request, row)
        if is_too_long(request, self.file_bytes):
            text = str(self.too_large).format(size=filesizeformat(self.file_bytes))
            page.message_user(request, text, messages.ERROR)
            return self.shown(page, request, row, self.form_for(row, None), status=413)
        return with_file(request, page.admin_site, self.file_bytes, partial(self.answer, page, row=row))

    def sent(self, request: HttpRequest) -> Any:
        """Return what was typed into the form; None where it was not sent yet."""
        return {} if self.asks_nothing else request.POST or None

    def is_confirmed(self, request: HttpRequest, form: forms.Form) -> bool:
        """Return whether the form was sent to act, and not to see what it would do."""
        return True

    def answer(self, page: Any, request: HttpRequest, row: Any) -> HttpResponse:
        """Carry the action out where its form is filled in, or show the form."""
        form = self.form_for(row, self.sent(request))
        page.prepare_form(form)
        form.files = request.FILES
        done = self._done(page, request, row, form) if form.is_valid() and self.is_confirmed(request, form) else None
        return done or self.shown(page, request, row, form)

    def shown(self, page: Any, request: HttpRequest, row: Any, form: forms.Form, status: int = 200) -> HttpResponse:
        """Return the page of the form."""
        answer = form_page(request, page, row, {"form": form, **self.seen(page, request, row, form)})
        answer.status_code = status
        return answer

    def seen(self, page: Any, request: HttpRequest, row: Any, form: forms.Form) -> dict[str, Any]:
        """Return what the page of the form says; an action adds what `moves`, a `hint` above it and more."""
        operator = operator_of(request)
        return {
            "title": self.question(row),
            "facts": self.facts(row),
            "notice": self.notice(row, operator),
            "buttons": self.choices(row, form, operator),
            "mode": self.mode_of(row, form),
        }

    def _done(self, page: Any, request: HttpRequest, row: Any, form: forms.Form) -> HttpResponse | None:
        """Carry the action out and return the response; None after a refusal, which the form then shows."""
        given = {"form": form, "page": page, "operator": operator_of(request)}
        cleaned = form.cleaned_data | given | {DECISION: request.POST.get(DECISION, "")}
        if made := self._made_before(cleaned):
            return _left(page, request, row, Result(self.sent_before, made if self.is_new else None, messages.WARNING))
        try:
            with because(cleaned.get("reason", "")):
                done = self.do(row, cleaned)
        except self.refusals as refusal:
            words = self.refused_as.get(type(refusal), "{fault}").format(fault=words_of(refusal))
            form.add_error(self.field_of(refusal, form), words)
            return None
        except tuple(self.too_late) as fault:
            return _left(page, request, row, Result(self.too_late[type(fault)], level=messages.WARNING))
        except IntegrityError:
            if "row_id" not in cleaned:
                raise
            return _left(page, request, row, Result(self.sent_before, self._made_before(cleaned), messages.WARNING))
        if isinstance(done, HttpResponseBase):
            return cast(HttpResponse, done)
        return _left(page, request, row, self._result(done, row), self.next_step(page, request, row))

    def _result(self, done: str | Mapping[str, str] | ApprovalRequest | Result, row: Any) -> Result:
        match done:
            case ApprovalRequest():
                return Result(REQUESTED, done, messages.WARNING)
            case Mapping():
                return Result(f"{self.label}: {row}", secrets=done)
            case str():
                return Result(done)
        return done

    def _made_before(self, cleaned: Mapping[str, Any]) -> Model | None:
        """Return what the form made when it was sent before."""
        found = (model._default_manager.filter(pk=cleaned["row_id"]).first() for model in self.makes)
        return next(filter(None, found), None)


class OnChosen(Action):
    """An action on chosen rows of a list, at most `most` at once; where it `takes_all`, on the whole list if asked."""

    most = 100
    takes_all = False

    def urls(self, page: Any) -> list[URLPattern]:
        return []

    def buttons(self, page: Any, request: HttpRequest, row: Any) -> list[ActionButton]:
        return []

    def of_list(self, page: Any, request: HttpRequest) -> dict[str, Any]:
        """Return the action as Django's lists have it."""
        return {self.name: (self._start, self.name, self.label)} if self.is_allowed(page, request) else {}

    def sent(self, request: HttpRequest) -> Any:
        return request.POST if DECISION in request.POST else None

    def possible(self, page: Any, request: HttpRequest, rows: QuerySet[Any]) -> Any:
        """Return what the action is about; None, after saying why, where nothing of `rows` is possible."""
        chosen = list(rows[: self.most + 1])
        if len(chosen) <= self.most:
            return chosen
        text = gettext("These are more than {count}. Choose fewer at once.").format(count=self.most)
        page.message_user(request, text, messages.ERROR)
        return None

    def answer(self, page: Any, request: HttpRequest, row: Any) -> HttpResponse:
        rows = self.possible(page, request, row)
        return redirect(request.get_full_path()) if rows is None else super().answer(page, request, rows)

    def shown(self, page: Any, request: HttpRequest, row: Any, form: forms.Form, status: int = 200) -> HttpResponse:
        for name in ("action", "select_across") if self.takes_all else ("action",):
            hidden = forms.CharField(initial=request.POST.get(name), required=False, widget=forms.HiddenInput)
            form.fields[name] = hidden
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        form.fields[ACTION_CHECKBOX_NAME] = forms.Field(initial=chosen, widget=forms.MultipleHiddenInput)
        return super().shown(page, request, row, form, status)

    def _start(self, page: Any, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        if self.asks_password:
            raise_if_reauthentication_required(request, app="account")
        return self.answer(page, request, rows)


def words_of(refusal: Exception) -> str:
    """Return what a form says of a refusal, in the reader's language."""
    texts = refusal.messages if isinstance(refusal, ValidationError) else [str(refusal)]
    return " ".join(map(translated, texts))


def _left(page: Any, request: HttpRequest, row: Any, result: Result, next_step: SafeString | str = "") -> HttpResponse:
    """Return the way to the page that shows `result`, and the next step."""
    where = page_of(result.about) if isinstance(result.about, Model) else result.about or page.page_after(row)
    if result.secrets:
        return shown_once(request, page, str(result.text), result.secrets, where)
    said = format_html("{} {}", result.text, next_step) if result.text and next_step else result.text
    for text, level in ((said, result.level), (result.warning, messages.WARNING)):
        if text:
            page.message_user(request, text, level)
    return redirect(where)


def page_of(row: Model) -> str:
    """Return the address of the page of `row`."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
