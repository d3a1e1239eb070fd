from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class PaymentsConfig(AppConfig):
    name = "payments"

    def ready(self) -> None:
        from payments import vault
        from payments.db.texts.writes import check_forms
        from payments.domain.maintenance.data_keys import DatabaseKeyStore

        vault.use_store(DatabaseKeyStore())
        check_forms()
        post_migrate.connect(make_months, sender=self, dispatch_uid="make_months")


def make_months(**_: Any) -> None:
    """Add missing partitions after a migration, also if no worker has run for long."""
    from payments import clock
    from payments.domain.maintenance.partitions import make_ahead

    make_ahead(clock.now())
