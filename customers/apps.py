from django.apps import AppConfig


class CustomersConfig(AppConfig):
    name = "customers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Teaches payments, which knows nothing of customers, to filter by them, check their books and give rights.

        And to know a payer by a customer's e-mail address.
        """
        from customers.emails import email_of_source
        from customers.invariants import INVARIANTS, TABLES
        from customers.models import Customer
        from customers.rights import CUSTOMER_RIGHTS
        from payments.domain.events import EVENT_OBJECTS, EVENT_TYPES
        from payments.domain.merchants.scopes import RIGHTS
        from payments.domain.risk.blocks import EMAIL_FINDERS
        from payments.invariants import invariant, registry

        EVENT_OBJECTS["cus"] = Customer
        EVENT_TYPES.update(
            {
                "customer.created": "A customer was made.",
                "customer.updated": "A customer was changed, or its sources were.",
                "customer.deleted": "A customer was deleted: shown as it was last.",
            }
        )
        EMAIL_FINDERS.append(email_of_source)
        RIGHTS.update(CUSTOMER_RIGHTS)
        invariant.TABLES.update(TABLES)
        registry.INVARIANTS.extend(INVARIANTS)
