"""The form of an operator's account."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group, User

from payments.admin.framework.reason_form import TextForm
from payments.staff.roles import ALL_MERCHANTS, ROLES

ROLE_WORDS = {
    "viewer": "sees every page but operators and the audit log",
    "support": "refunds up to a limit, sends webhooks again, looks up unknown outcomes, exports lists",
    "finance": "captures, voids and refunds, approves requests, corrects outcomes, closes differences, blocks cards",
    "administrator": "operators, merchants, keys, provider accounts and routes; moves no money",
    ALL_MERCHANTS: "works for every merchant, also for new ones, in place of those named below",
}


class RoleField(forms.ModelMultipleChoiceField):
    """Checkboxes of the roles, each with what it may do."""

    widget = forms.CheckboxSelectMultiple({"class": "radiolist"})

    def __init__(self) -> None:
        names = [*ROLES, ALL_MERCHANTS]
        super().__init__(Group.objects.filter(name__in=names).order_by("pk"), required=False, label="Roles")

    def label_from_instance(self, obj: Group) -> str:
        return f"{obj.name}: {ROLE_WORDS[obj.name]}"


class OperatorForm(TextForm, forms.ModelForm):
    first_name = forms.CharField(label="Name", max_length=150, required=False)
    email = forms.EmailField(label="E-mail address")
    groups = RoleField()

    class Meta:
        model = User
        fields = ("username", "first_name", "email", "groups", "is_superuser")
        labels = {"username": "Sign-in name", "is_superuser": "Superuser"}
        help_texts = {"username": "Letters, digits and @/./+/-/_ only.", "is_superuser": "May do everything."}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        email = cleaned.get("email", "")
        if email and User.objects.filter(email__iexact=email).exclude(pk=self.instance.pk).exists():
            self.add_error("email", "Another operator has this address. Each operator has one account.")
        return cleaned
