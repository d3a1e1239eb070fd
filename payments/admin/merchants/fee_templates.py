"""Fee templates: tables of fees with a name, which are given to merchants."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from payments import clock
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import column
from payments.admin.framework.reason_form import TextForm
from payments.admin.merchants.fees import FeesField, fee_summary, fee_table, rows_of
from payments.domain.merchants.terms import BadTerms, rates_of_fees
from payments.models import FeeTemplate


class FeeTemplateForm(TextForm, forms.ModelForm):
    fees = FeesField(
        help_text="Clear both numbers of a row to remove it. Merchants that have the template keep theirs."
    )

    class Meta:
        model = FeeTemplate
        fields = ("title",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"fees": list(rows_of(self.instance.rates)), **self.initial}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "fees" in cleaned:
            try:
                self.instance.rates = rates_of_fees(cleaned["fees"], self.instance.rates)
            except BadTerms as fault:
                self.add_error("fees", str(fault))
        return cleaned


@admin.register(FeeTemplate)
class FeeTemplateAdmin(BaseAdmin):
    is_edited = True
    merchant_lookup = None
    form = FeeTemplateForm
    list_display = ("title", "shown_fees", "updated")
    search_fields = ("title",)
    search_help_text = "Words of the title."
    shown_fees = column(
        "Fees",
        lambda template: fee_table(template.rates),
        in_list=lambda template: fee_summary(template.rates),
    )

    def get_fieldsets(self, request: HttpRequest, obj: FeeTemplate | None = None) -> Any:
        fees = "fees" if self.has_change_permission(request, obj) or obj is None else "shown_fees"
        return ((None, {"fields": ("title", fees)}),)

    def get_readonly_fields(self, request: HttpRequest, obj: FeeTemplate | None = None) -> tuple[str, ...]:
        return ("shown_fees",)

    def save_model(self, request: HttpRequest, obj: FeeTemplate, form: forms.ModelForm, change: bool) -> None:
        obj.updated_at = clock.now()
        super().save_model(request, obj, form, change)
