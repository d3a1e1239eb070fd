from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class StaffAdminConfig(AdminConfig):
    """Django's admin with the site of `payments.staff.admin_site.site`."""

    default_site = "payments.staff.admin_site.site.StaffSite"


class StaffConfig(AppConfig):
    """The last of the apps, so that all permissions of the roles exist when its `post_migrate` runs."""

    name = "payments.staff"

    def ready(self) -> None:
        # Their signal receivers write the audit log, lock out and end sessions.
        from payments.staff import audit_signals  # noqa: F401
        from payments.staff.roles import make_roles
        from payments.staff.sign_in import factors, lockout, sessions  # noqa: F401

        apps.get_app_config("auth").verbose_name = "People"
        post_migrate.connect(make_roles, sender=self, dispatch_uid="make_roles")
