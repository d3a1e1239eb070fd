"""Approval limits: how much of a charge each role gives back alone."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import money
from payments.admin.framework.reason_form import offer_stored
from payments.admin.operators.pages import AmountField
from payments.models import AMOUNT_MAX, ApprovalLimit
from payments.money import CURRENCIES, DEFAULT_CURRENCY, plain_amount


class ApprovalLimitForm(forms.ModelForm):
    """A form for a limit; of an existing one only the amount changes."""

    currency = forms.ChoiceField(
        choices=[(code, code) for code in sorted(CURRENCIES)], initial=DEFAULT_CURRENCY, label=_("Currency")
    )
    amount = forms.CharField(label=_("Amount"))

    class Meta:
        model = ApprovalLimit
        fields = ("role", "currency", "amount")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit = self.instance
        if limit.pk:
            self.initial["amount"] = plain_amount(limit.amount, limit.currency)
            # Operators who may only view have no fields.
            for name in {"role", "currency"} & self.fields.keys():
                self.fields[name].disabled = True
            offer_stored(self)

    def clean_amount(self) -> int:
        currency = self.cleaned_data.get("currency", DEFAULT_CURRENCY)
        return AmountField(currency, AMOUNT_MAX, least=0).clean(self.cleaned_data["amount"])


@admin.register(ApprovalLimit)
class ApprovalLimitAdmin(BaseAdmin):
    is_edited = True
    for_merchants = "currency amount shown_amount"
    of = "role"
    merchant_lookup: str | None = None
    form = ApprovalLimitForm
    noticed_fields: Sequence[str] = ("role", "currency", "amount")
    list_display: Any = ("role", "currency", "shown_amount")
    list_display_links: Any = ("role", "currency", "shown_amount")
    list_filter: ClassVar[Any] = ("role",)
    list_select_related: ClassVar[Any] = ("role",)
    readonly_fields = ("shown_amount",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the limits of one sort: those of roles, or a merchant's own."""
        return super().get_queryset(request).filter(**{f"{self.of}__isnull": False})

    def get_fields(self, request: Any, obj: Any = None) -> Any:
        is_form = obj is None or self.has_change_permission(request, obj)
        return ApprovalLimitForm.Meta.fields if is_form else ("role", "shown_amount")

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        """Return False: a limit of nothing is zero, and the next migration would restore a deleted default."""
        return False

    def detail_of(self, obj: Any) -> str:
        return f"{obj.role}: {money(obj.amount, obj.currency)}"
