from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class StaffAdminConfig(AdminConfig):
    """Django's admin, behind our sign-in."""

    default_site = "payments.staff.site.StaffSite"


class StaffConfig(AppConfig):
    """Comes last of the apps, so that after a migration every permission is there which the roles are made of."""

    name = "payments.staff"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from payments.staff import (  # noqa: F401  tell the audit log
            audit_signals,
            sessions,
            sign_in_signals,
        )
        from payments.staff.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="make_roles")
