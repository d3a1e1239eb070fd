from django.apps import AppConfig


class CustomersConfig(AppConfig):
    name = "customers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Teaches payments, which knows nothing of customers, to filter by them, check their books and give rights."""
        from customers.api.filters import charges_of_customer
        from customers.invariants import INVARIANTS, TABLES
        from customers.rights import CUSTOMER_RIGHTS
        from payments.api.filters import CHARGE_FILTERS
        from payments.domain.rights import RIGHTS
        from payments.invariants import invariant, registry

        CHARGE_FILTERS["customer"] = charges_of_customer
        RIGHTS.update(CUSTOMER_RIGHTS)
        invariant.TABLES.update(TABLES)
        registry.INVARIANTS.extend(INVARIANTS)
