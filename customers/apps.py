from django.apps import AppConfig


class CustomersConfig(AppConfig):
    name = "customers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Teaches the list of charges to filter by customer, of which payments itself knows nothing."""
        from customers.api.filters import charges_of_customer
        from payments.api.filters import CHARGE_FILTERS

        CHARGE_FILTERS["customer"] = charges_of_customer
