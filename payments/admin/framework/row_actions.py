"""Actions on a row: a form says what will happen and asks why, and one verb does it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.file_forms import FORM_BYTES, is_too_long, takes_file, with_file
from payments.admin.framework.object_actions import ActionButton, Consequence, Facts, form_page, operator_of, shown_once
from payments.admin.framework.reason_form import ReasonForm
from payments.concurrency.long_bodies import BodyLimits, Uploads
from payments.context import because
from payments.domain.catalogue.said import translated
from payments.models import ApprovalRequest

# The longest time that a form with a file may take, and the most that a process reads at once.
FILE_SECONDS, MOST_FILES = 60, 4
SENT_BEFORE = _("This form was sent before. Its result was shown then, and is not shown again.")
# The success message, secrets by name to show once, or the request that waits for approval.
Done = str | Mapping[str, str] | ApprovalRequest


def redirect_to_request(request: HttpRequest, page: admin.ModelAdmin, made: ApprovalRequest) -> HttpResponse:
    """Redirect to the request for approval that a form made."""
    text = gettext("Requested. Nothing is changed before somebody other than you approves it.")
    page.message_user(request, text, messages.WARNING)
    return redirect("admin:payments_approvalrequest_change", made.pk)


class RowAction(ABC):
    """One action on a row: its permission, its form and what it does.

    `name` is used in addresses, `label` on the button to the form, and `button` on its submit button, by default the
    same. After one of `refusals` the form says why; `too_late` has the warning where somebody else was first, and
    `over` the one in place of the form where the action does not fit any more. `what_happens` is the last of the facts,
    and `warning` stands above them. The form takes a file of at most `file_bytes`, 0 for none.
    """

    name: str
    label: Any
    button: Any = ""
    permission: str
    form: type[forms.Form] = ReasonForm
    refusals: tuple[type[Exception], ...] = ()
    too_late: Mapping[type[Exception], Any] = MappingProxyType({})
    over: Any = ""
    what_happens: Any = ""
    warning: Any = ""
    file_bytes = 0
    # Whether the password is asked for again, where it was not given a short while ago.
    asks_password = False

    def fits(self, row: Any) -> bool:
        """Return whether the action applies to `row`."""
        return True

    def is_offered_to(self, operator: User, row: Any) -> bool:
        """Return whether this operator may act on `row`, where four eyes are needed."""
        return True

    def question(self, row: Any) -> str:
        """Return the title of the form's page."""
        return f"{self.label}: {row}"

    def form_for(self, row: Any, data: Any) -> forms.Form:
        return self.form(data)

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        """Return the field that `refusal` is about; None for the whole form."""
        return None

    def facts(self, row: Any) -> Facts:
        """Yield what the action is about, and what will happen."""
        yield from self.about(row)
        if self.what_happens:
            yield _("What happens"), self.what_happens

    def about(self, row: Any) -> Facts:
        """Yield which row it is: by default its merchant, or the merchant itself."""
        yield _("Merchant"), getattr(row, "merchant", row).title

    def notice(self, row: Any, operator: User) -> Consequence | None:
        """Return what the operator must know first."""
        return Consequence(self.warning) if self.warning else None

    @abstractmethod
    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        """Carry the action out with the form's values and the `operator` among them; raise one of `refusals`."""


class RowActions(admin.ModelAdmin):
    """A page that offers `row_actions`. None runs inside a transaction of the view: a verb has its own."""

    row_actions: Sequence[RowAction] = ()
    key_converter = "uuid"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        ours = [
            path(
                f"<{self.key_converter}:pk>/{act.name.replace('_', '-')}/",
                view(self._view_of(act)),
                name=self._address(act),
            )
            for act in self.row_actions
        ]
        return [*ours, *super().get_urls()]

    def buttons_of(self, request: HttpRequest, row: Any) -> list[ActionButton]:
        operator = operator_of(request)
        may = [
            act
            for act in self.row_actions
            if operator.has_perm(act.permission) and act.fits(row) and act.is_offered_to(operator, row)
        ]
        return [ActionButton(act.label, reverse(f"admin:{self._address(act)}", args=[row.pk])) for act in may]

    def act(self, request: HttpRequest, pk: Any, act: RowAction) -> HttpResponse:
        """Show the form of an action, or carry it out."""
        if not operator_of(request).has_perm(act.permission):
            raise PermissionDenied
        if act.asks_password:
            raise_if_reauthentication_required(request, app="account")
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        if act.over and not act.fits(row):
            return self._left(request, row, messages.WARNING, act.over)
        if not act.file_bytes:
            return self._answer(request, act, row)
        if is_too_long(request, act.file_bytes):
            self.message_user(
                request,
                gettext("The file is larger than {size}.").format(size=filesizeformat(act.file_bytes)),
                messages.ERROR,
            )
            return self._form_page(request, act, row, act.form_for(row, None), status=413)
        return with_file(request, self.admin_site, act.file_bytes, lambda request: self._answer(request, act, row))

    def _view_of(self, act: RowAction) -> Callable[..., HttpResponse]:
        view = partial(self.act, act=act)
        if not act.file_bytes:
            return view
        limits = BodyLimits(act.file_bytes + FORM_BYTES, FILE_SECONDS)
        return takes_file(view, self.admin_site, act.permission, Uploads(limits, MOST_FILES))

    def form_of(self, act: RowAction, row: Any, data: Any) -> forms.Form:
        """Return the form of an action as this page shows it."""
        return act.form_for(row, data)

    def _answer(self, request: HttpRequest, act: RowAction, row: Any) -> HttpResponse:
        """Carry the action out where its form is filled in, or show the form."""
        form = self.form_of(act, row, request.POST or None)
        form.files = request.FILES
        done = self._done(request, act, row, form) if form.is_valid() else None
        return done or self._form_page(request, act, row, form)

    def _form_page(
        self, request: HttpRequest, act: RowAction, row: Any, form: forms.Form, status: int = 200
    ) -> HttpResponse:
        buttons, notice = [(act.name, act.button or act.label)], act.notice(row, operator_of(request))
        page = form_page(request, self, act.question(row), act.facts(row), form, buttons, notice, row)
        page.status_code = status
        return page

    def _done(self, request: HttpRequest, act: RowAction, row: Any, form: forms.Form) -> HttpResponse | None:
        """Carry the action out and return the response; None after a refusal, which the form then shows."""
        try:
            with because(form.cleaned_data.get("reason", "")):
                done = act.do(row, form.cleaned_data | {"operator": operator_of(request)})
        except act.refusals as refusal:
            form.add_error(act.field_of(refusal, form), translated(str(refusal)))
            return None
        except tuple(act.too_late) as fault:
            return self._left(request, row, messages.WARNING, act.too_late[type(fault)])
        except IntegrityError:
            if "row_id" not in form.cleaned_data:
                raise
            return self._left(request, row, messages.WARNING, SENT_BEFORE)
        if isinstance(done, ApprovalRequest):
            return redirect_to_request(request, self, done)
        if isinstance(done, str):
            return self._left(request, row, messages.SUCCESS, done)
        return shown_once(request, self, f"{act.label}: {row}", done, self._page_of(row))

    def _left(self, request: HttpRequest, row: Any, level: int, text: Any) -> HttpResponse:
        self.message_user(request, text, level)
        return redirect(self._page_of(row))

    def _page_of(self, row: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[row.pk])

    def _address(self, act: RowAction) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{act.name}"
