from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class StaffAdminConfig(AdminConfig):
    """Django's admin, behind our sign-in."""

    default_site = "config.staff.site.StaffSite"


class StaffConfig(AppConfig):
    """Comes last of the apps, so that after a migration every permission is there which the roles are made of."""

    name = "config.staff"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config.staff import sessions  # noqa: F401  notes when somebody signed in
        from config.staff.roles import make_roles

        post_migrate.connect(make_roles, sender=self, dispatch_uid="make_roles")
