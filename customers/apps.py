from django.apps import AppConfig

CUSTOMER_RIGHTS = {
    "customers:read": "read, find and list customers, with the sources kept for them",
    "customers:write": "make, change and delete customers, keep sources for them and give them up",
}


class CustomersConfig(AppConfig):
    name = "customers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the customers' events, rights, invariants, e-mail addresses and search entries with payments."""
        # Loading the domain declares the events.
        from customers.domain.checkout import CUSTOMERS
        from customers.invariants import INVARIANTS, TABLES
        from customers.models import Customer, email_of_customer
        from customers.search_entries import search_entries
        from payments.domain.merchants.scopes import RIGHTS
        from payments.domain.risk.blocks import EMAIL_FINDERS
        from payments.domain.shared.customers import use_customers
        from payments.invariants import invariant, registry
        from payments.search.sweep import MAKERS

        MAKERS["customer"] = Customer, search_entries
        use_customers(CUSTOMERS)
        EMAIL_FINDERS.append(email_of_customer)
        RIGHTS.update(CUSTOMER_RIGHTS)
        invariant.TABLES.update(TABLES)
        registry.INVARIANTS.extend(INVARIANTS)
