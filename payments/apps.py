from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    name = "payments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from payments import vault
        from payments.domain.data_keys import WrappedKeys

        vault.use_store(WrappedKeys())
