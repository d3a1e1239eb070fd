from django.apps import AppConfig


class CustomersConfig(AppConfig):
    name = "customers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Teaches payments, which knows nothing of customers, to filter by them, check their books and give rights.

        And to know a payer by a customer's e-mail address.
        """
        from customers.api.filters import charges_of_customer
        from customers.emails import email_of_source
        from customers.invariants import INVARIANTS, TABLES
        from customers.rights import CUSTOMER_RIGHTS
        from payments.api.filters import CHARGE_FILTERS
        from payments.domain.blocks import EMAIL_FINDERS
        from payments.domain.rights import RIGHTS
        from payments.invariants import invariant, registry

        CHARGE_FILTERS["customer"] = charges_of_customer
        EMAIL_FINDERS.append(email_of_source)
        RIGHTS.update(CUSTOMER_RIGHTS)
        invariant.TABLES.update(TABLES)
        registry.INVARIANTS.extend(INVARIANTS)
