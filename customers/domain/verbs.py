"""What may be done to the sources kept for a customer."""

from django.utils.translation import gettext_lazy as _

from payments.domain.shared.verbs import Verb

DETACH = Verb(
    "detach_source",
    _(
        "The source cannot be charged any more, and its card data is destroyed. The merchant gets an event. "
        "Charges that were made stay. This cannot be undone."
    ),
    "customers:write",
    "customers.delete_customersource",
    _("Detach a source"),
)
