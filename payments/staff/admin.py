"""The admin of users: accounts, roles, merchants they work for, and removal of lost second factors."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential

from payments.admin.framework.base import LookOnlyInline
from payments.admin.framework.change_audit import Audited
from payments.admin.framework.formats import column, moment_column
from payments.admin.framework.merchant_access import Limited
from payments.models import MerchantAccess
from payments.staff.models import Authenticator, RecoveryCodes

# Fields that only a superuser may change, and fields that nobody may change of their own account.
OF_SUPERUSERS = ("is_superuser", "user_permissions")
OF_OTHERS = ("is_active", "is_staff", "groups")

admin.site.unregister([User, Group, StaticDevice, TOTPDevice])


@admin.register(Group)
class RoleAdmin(Limited, Audited, GroupAdmin):
    """Django's page of a group, with its changes in the audit log."""

    merchant_lookup = None


class FactorInline(LookOnlyInline):
    """The second factors of the user shown, without secrets; they may be removed."""

    fields: ClassVar[Any] = ("since", "last_used")
    can_delete = True
    show_change_link = False
    since = moment_column("created_at")
    last_used = moment_column("last_used_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(confirmed=True)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.TabularInline.has_delete_permission(self, request, obj)


class AuthenticatorInline(FactorInline):
    model = Authenticator


class PasskeyInline(FactorInline):
    model = WebAuthnCredential
    verbose_name_plural = "passkeys"


class RecoveryCodesInline(FactorInline):
    model = RecoveryCodes
    fields = ("shown_left", "since", "last_used")
    shown_left = column("Left", lambda codes: codes.left)


class MerchantsInline(admin.TabularInline):
    """The merchants that the user shown works for; nobody may change their own."""

    model = MerchantAccess
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


@admin.register(User)
class PersonAdmin(Limited, Audited, UserAdmin):
    """The admin of users, who are deactivated and never deleted, because records name them."""

    merchant_lookup = None
    inlines = (MerchantsInline, AuthenticatorInline, PasskeyInline, RecoveryCodesInline)
    list_display = ("username", "email", "roles", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser", "groups")
    roles = column("Roles", lambda user: ", ".join(sorted(group.name for group in user.groups.all())))

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> Any:
        return self.inlines if obj else ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        fields = (*super().get_readonly_fields(request, obj), "last_login", "date_joined")
        if request.user.is_superuser:
            return fields
        return (*fields, *OF_SUPERUSERS, *(OF_OTHERS if obj == request.user else ()))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the user may be changed: a superuser only by superusers, who could take it over otherwise."""
        is_above = isinstance(obj, User) and obj.is_superuser and not request.user.is_superuser
        return super().has_change_permission(request, obj) and not is_above

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Do nothing: `payments.staff.audit_signals` records every change of an account."""

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Do nothing, for the same reason."""
