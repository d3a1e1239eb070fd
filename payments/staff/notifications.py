"""The page on which operators choose their e-mails about what needs attention."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.views.generic import FormView

from payments.inbox.log_heads import LOG_HEADS
from payments.inbox.sections import SORT_NAMES
from payments.inbox.sorts import SORTS
from payments.inbox.statements import MAY_GET, STATEMENTS
from payments.models import NotificationChoice
from payments.staff.sign_in.views import PersonalPage

# What is mailed beside the sorts of the inbox.
OTHERS = {
    STATEMENTS: "Statements of the month before, once they are final",
    LOG_HEADS: "The signed head of the transparency log, once a day",
}
NAMES = SORT_NAMES | OTHERS


class NotificationsForm(forms.Form):
    """How often, and about which sorts of the inbox and statements; those that the operator may see."""

    mode = forms.ChoiceField(
        label="E-mail", choices=NotificationChoice.Mode.choices, widget=forms.RadioSelect(attrs={"class": "radiolist"})
    )
    sorts = forms.MultipleChoiceField(
        label="About", required=False, widget=forms.CheckboxSelectMultiple(attrs={"class": "radiolist"})
    )

    def __init__(self, *args: Any, offered: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sorts: Any = self.fields["sorts"]
        sorts.choices = [(name, NAMES[name]) for name in offered]


class NotificationsView(PersonalPage, FormView):
    """Asks the signed-in operator how often, and about what, to send e-mail."""

    title = "My notifications"
    template_name = "admin/staff/notifications.html"
    form_class = NotificationsForm

    def get_form_kwargs(self) -> dict[str, Any]:
        rights = {sort.name: sort.permission for sort in SORTS} | dict.fromkeys(OTHERS, MAY_GET)
        offered = [name for name, right in rights.items() if self.reader.has_perm(right)]
        return super().get_form_kwargs() | {"offered": offered}

    def get_initial(self) -> dict[str, Any]:
        choice = NotificationChoice.objects.filter(operator=self.reader).first()
        return {"mode": choice.mode, "sorts": choice.sorts} if choice else {"mode": "none", "sorts": list(SORT_NAMES)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        facts = {"address": self.reader.email, "has_server": bool(settings.EMAIL_HOST), "hour": settings.DIGEST_HOUR}
        return super().get_context_data(**kwargs) | facts | {"zone": settings.DISPLAY_TIME_ZONE}

    def form_valid(self, form: NotificationsForm) -> HttpResponse:
        NotificationChoice.objects.update_or_create(operator=self.reader, defaults=form.cleaned_data)
        messages.success(self.request, "Saved.")
        return super().form_valid(form)
