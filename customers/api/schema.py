"""Customers in the OpenAPI document."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from customers.api.serializers import AttachInput, CustomerChanges, CustomerInput, CustomerListQuery
from customers.rendering import CUSTOMER, DELETED
from payments.api.schema.operations import DescribedView, id_in_path, listing, reading, writing
from payments.api.validation.strict import Nothing
from payments.domain.catalogue.error_table import RESOURCE_BUSY, SOURCE_ALREADY_USED, SOURCE_EXPIRED, TOO_MANY_SOURCES
from payments.rendering.objects.sources import SOURCE_ID

TAG = "Customers"
EXAMPLE_CONSENT = {
    "text": "Maria's Market charges 450 pesos each week until I end it by e-mail to help@example.com.",
    "at": "2026-11-20T09:30:00+08:00",
    "ip": "203.0.113.7",
    "user_agent": "Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0",
}
THE_CUSTOMER = [id_in_path("cus", "customer")]
EMAIL_IN_PATH = OpenApiParameter(
    "email", str, OpenApiParameter.PATH, description="The address; case counts before the @."
)


class Customers(DescribedView):
    target_class = "customers.api.views.CustomerViewSet"
    tag = TAG
    at = THE_CUSTOMER
    operations = {
        "create": writing(
            "create_customer",
            "Make a customer",
            "A payer whose sources are kept for later charges.",
            CustomerInput,
            CUSTOMER,
            status=201,
            sent={"Customer": {name: CUSTOMER.example[name] for name in ("email", "description", "mobile_number")}},
            answered={"Customer": CUSTOMER.example | {"sources": []}},
            conflicts=(),
        ),
        "list": listing(
            "list_customers", "List customers", "Newest first.", CUSTOMER, "/v2/customers/", CustomerListQuery
        ),
        "retrieve": reading("retrieve_customer", "Read a customer", "The customer with the sources kept.", CUSTOMER),
        "update": writing(
            "update_customer",
            "Change a customer",
            "The members given replace what was there, `metadata` as a whole. An empty body changes nothing.",
            CustomerChanges,
            CUSTOMER,
            sent={"New number": {"mobile_number": "+639177654321"}},
            answered={"Changed": CUSTOMER.example | {"mobile_number": "+639177654321"}},
            idempotent=False,
        ),
        "destroy": writing(
            "delete_customer",
            "Delete a customer",
            "Its sources are detached and their card data destroyed; its charges stay.",
            Nothing,
            DELETED,
            answered={"Deleted": DELETED.example},
            idempotent=False,
        ),
        "by_email": reading(
            "retrieve_customer_by_email",
            "Find a customer by e-mail",
            "The newest customer with this address, percent-encoded or not.",
            CUSTOMER,
            at=[EMAIL_IN_PATH],
        ),
        "attach": writing(
            "attach_source",
            "Keep a source for a customer",
            "An unused source is kept (`vaulted`), and may then be charged again and again, without the payer.",
            AttachInput,
            CUSTOMER,
            sent={"Source": {"source": SOURCE_ID, "consent": EXAMPLE_CONSENT}},
            answered={"Kept": CUSTOMER.example},
            conflicts=(SOURCE_ALREADY_USED, SOURCE_EXPIRED, TOO_MANY_SOURCES, RESOURCE_BUSY),
        ),
        "detach": writing(
            "detach_source",
            "Give a kept source up",
            "It is no longer kept, and its card data is destroyed.",
            Nothing,
            CUSTOMER,
            at=[*THE_CUSTOMER, id_in_path("src", "source", "source_id")],
            answered={"Given up": CUSTOMER.example | {"sources": []}},
            idempotent=False,
        ),
    }


def describe_customers(endpoints: Sequence[Any]) -> Sequence[Any]:
    """Return `endpoints` unchanged: a hook of drf-spectacular, for which it loads the descriptions above."""
    return endpoints
