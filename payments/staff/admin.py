"""The page of operators: accounts, roles, merchants they work for, and removal of lost second factors."""

from datetime import datetime
from typing import Any, ClassVar

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.text import capfirst

from payments import clock
from payments.admin.framework.base import BaseAdmin, BoundedRows, ReadOnlyInline, never
from payments.admin.framework.filters import by
from payments.admin.framework.formats import NOTHING, beside, chip, column, moment_column, time_column
from payments.admin.framework.reason_form import TextForm
from payments.models import MerchantAccess
from payments.staff.audit_signals import FACTORS
from payments.staff.operator_actions import Deactivate, Invite, Reactivate, WithdrawInvitation
from payments.staff.roles import ALL_MERCHANTS, ROLES
from payments.staff.sign_in.addresses import AddressField, is_another_operators

# Fields that only a superuser may change, and fields that nobody may change of their own account.
OF_SUPERUSERS = ("is_superuser",)
OF_OTHERS = ("groups",)

admin.site.unregister([User, Group, EmailAddress, Authenticator, UserSession])


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
        return format_html("<strong>{}</strong> {}", capfirst(obj.name), ROLE_WORDS[obj.name])


class OperatorForm(TextForm, forms.ModelForm):
    first_name = forms.CharField(label="Name", max_length=150, required=False)
    email = AddressField(label="E-mail address")
    groups = RoleField()

    class Meta:
        model = User
        fields = ("username", "first_name", "email", "groups", "is_superuser")
        labels = {"username": "Sign-in name", "is_superuser": "Superuser"}
        help_texts = {"username": "Letters, digits and @/./+/-/_ only.", "is_superuser": "May do everything."}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if is_another_operators(cleaned.get("email", ""), User(pk=self.instance.pk, is_staff=True)):
            self.add_error("email", "Another operator has this address. Each operator has one account.")
        return cleaned


class FactorInline(ReadOnlyInline):
    """The second factors of the user shown, without secrets; they may be removed."""

    model = Authenticator
    verbose_name_plural = "second factors"
    fields: ClassVar[Any] = ("what", "since", "last_used")
    can_delete = True
    show_change_link = False
    what = column("What", lambda factor: FACTORS[factor.type].capitalize())
    since = moment_column("created_at")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.TabularInline.has_delete_permission(self, request, obj)


class MerchantsInline(admin.TabularInline):
    """The merchants that the user shown works for; nobody may change their own."""

    model = MerchantAccess
    verbose_name, verbose_name_plural = "merchant", MerchantAccess._meta.verbose_name_plural
    formset = BoundedRows
    autocomplete_fields = ("merchant",)
    extra = 0

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the field without Django's links to add or change a merchant in a pop-up."""
        field: Any = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "merchant":
            field.widget.can_add_related = field.widget.can_change_related = False
        return field

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_own = obj == request.user and not request.user.is_superuser
        return request.user.has_perm("auth.change_user") and not is_own

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_add_permission(request, obj)


def status_of(user: User) -> Any:
    """Return whether an operator can sign in, as a chip."""
    if not user.is_active:
        return chip("deactivated", "quiet")
    if user.has_usable_password():
        return chip("active", "good")
    invitation = getattr(user, "invitation", None)
    if invitation is None:
        return chip("not invited", "warn")
    return chip("invited", "warn") if invitation.expires_at > clock.now() else chip("invitation expired", "bad")


@admin.register(User)
class OperatorAdmin(BaseAdmin):
    """The admin of operators, who are deactivated and never deleted, because records name them."""

    is_edited = True
    merchant_lookup = None
    called = ("operator", "operators")
    has_delete_permission = never
    form = OperatorForm
    key_converter = "int"
    row_actions = (Invite(), WithdrawInvitation(), Deactivate(), Reactivate())
    inlines = (MerchantsInline, FactorInline)
    head_columns = ("status",)
    list_display = ("who", "roles", "email", "merchants", "status", "last_seen")
    file_columns = ("username", "shown_name", "email", "roles", "merchants", "status", "last_seen")
    list_filter = (
        by("status", active=("Active", Q(is_active=True)), deactivated=("Deactivated", Q(is_active=False))),
        "groups",
    )
    search_fields = ("username", "first_name", "email")
    list_select_related = ("operator_profile", "invitation")
    who = column("Operator", lambda user: beside(user.first_name, user.username) if user.first_name else user.username)
    shown_name = column("Name", lambda user: user.first_name or NOTHING)
    roles = column("Roles", lambda user: ", ".join(_roles_of(user)) or NOTHING)
    merchants = column("Merchants", lambda user: ", ".join(map(str, user.merchant_access.all())) or NOTHING)
    status = column("Status", status_of)
    joined = moment_column("date_joined", "Added")
    last_seen = time_column("Last seen", lambda user: _last_seen_of(user))

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> Any:
        return super().get_inlines(request, obj) if obj else (MerchantsInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        operators = super().get_queryset(request).filter(is_staff=True)
        return operators.prefetch_related("groups", "merchant_access__merchant")

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if obj is None or self.has_change_permission(request, obj):
            return [*OperatorForm.Meta.fields]
        return ["username", "first_name", "email", "roles", "status", "last_seen", "joined"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        fields = ("roles", "status", "last_seen", "joined")
        if request.user.is_superuser:
            return fields
        return (*fields, *OF_SUPERUSERS, *(OF_OTHERS if obj == request.user else ()))

    def may_change(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may be changed: a superuser only by superusers, who could take it over otherwise."""
        is_above = isinstance(obj, User) and obj.is_superuser and not request.user.is_superuser
        return super().may_change(request, obj) and not is_above

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        # Django's title names the model.
        return {"title": "Operators"}

    def add_view(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        return super().add_view(request, extra_context={"title": "New operator"})

    def headline(self, row: User) -> str:
        return row.first_name or row.username

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        obj.is_staff = True
        if not change:
            obj.set_unusable_password()
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: User, post_url_continue: str | None = None) -> HttpResponse:
        """Continue with the link for the new operator."""
        return redirect("admin:auth_user_invite", obj.pk)

    def may_act_on(self, request: HttpRequest, row: User) -> bool:
        return row != request.user and self.may_change(request, row)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Do nothing: `payments.staff.audit_signals` records every change of an account."""

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Do nothing, for the same reason."""


def _roles_of(user: User) -> list[str]:
    superuser = ["superuser"] if user.is_superuser else []
    return superuser + sorted(group.name for group in user.groups.all())


def _last_seen_of(user: User) -> datetime | None:
    profile = getattr(user, "operator_profile", None)
    return profile.last_seen_at if profile else user.last_login
