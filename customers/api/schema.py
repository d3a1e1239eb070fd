"""Customers in the OpenAPI document."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from customers.api.serializers import AttachInput, CustomerChanges, CustomerInput, CustomerListQuery
from payments.api.schema import examples
from payments.api.schema.members import (
    Member,
    created,
    livemode,
    metadata,
    named,
    or_null,
    own_id,
    shown,
    text,
    updated,
)
from payments.api.schema.operations import DescribedView, id_in_path, reading, writing
from payments.api.schema.responses import EVENT_OBJECTS, SOURCE, page_of
from payments.api.validation.strict import Nothing

TAG = "Customers"
CUSTOMER_ID = "cus_019aa3c5d1017f4e8b7a6c5d4e3f2a1b"
CUSTOMER_REQUEST = {
    "email": "juan@example.com",
    "description": "Juan of Session Road",
    "mobile_number": "+639171234567",
}
KEPT_SOURCE = examples.SOURCE | {"used": True, "vaulted": True}
CUSTOMER_EXAMPLE: dict[str, Any] = {
    "object": "customer",
    "id": CUSTOMER_ID,
    **CUSTOMER_REQUEST,
    "sources": [KEPT_SOURCE],
    **examples.MODE,
    **examples.TIMES,
    "metadata": {},
}
CUSTOMER = shown(
    "Customer",
    "A payer whom you know, with the sources kept for later charges.",
    object=named("customer"),
    id=own_id("cus"),
    email=text("E-mail address."),
    mobile_number=or_null(text("Mobile number, null without one.")),
    description=text("Who it is, in your words."),
    sources=SOURCE(many=True, help_text="The sources kept, newest first."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
    metadata=metadata(),
)
DELETED = shown(
    "DeletedCustomer",
    "What is left of a deleted customer.",
    id=own_id("cus"),
    object=named("customer"),
    deleted=Member({"type": "boolean", "const": True}, "Always `true`."),
)
THE_CUSTOMER = [id_in_path("cus", "customer")]
EMAIL_IN_PATH = OpenApiParameter("email", str, OpenApiParameter.PATH, description="The address, exactly; case counts.")


class Customers(DescribedView):
    target_class = "customers.api.views.CustomerViewSet"
    operations = {
        "create": writing(
            "create_customer",
            "Make a customer",
            "A payer whose sources are kept for later charges.",
            CustomerInput,
            CUSTOMER,
            tag=TAG,
            status=201,
            sent={"Customer": CUSTOMER_REQUEST},
            answered={"Customer": CUSTOMER_EXAMPLE | {"sources": []}},
            conflicts=(),
        ),
        "list": reading(
            "list_customers",
            "List customers",
            "Newest first.",
            page_of(CUSTOMER),
            examples.page("/v2/customers/", CUSTOMER_EXAMPLE),
            tag=TAG,
            query=CustomerListQuery,
        ),
        "retrieve": reading(
            "retrieve_customer",
            "Read a customer",
            "The customer with the sources kept.",
            CUSTOMER,
            CUSTOMER_EXAMPLE,
            tag=TAG,
            at=THE_CUSTOMER,
        ),
        "update": writing(
            "update_customer",
            "Change a customer",
            "The members given replace what was there, `metadata` as a whole. An empty body changes nothing.",
            CustomerChanges,
            CUSTOMER,
            tag=TAG,
            at=THE_CUSTOMER,
            sent={"New number": {"mobile_number": "+639177654321"}},
            answered={"Changed": CUSTOMER_EXAMPLE | {"mobile_number": "+639177654321"}},
            invalid=("too_short", "unknown_parameter", "invalid_type"),
            idempotent=False,
        ),
        "destroy": writing(
            "delete_customer",
            "Delete a customer",
            "Its sources are detached and their card data destroyed; its charges stay.",
            Nothing,
            DELETED,
            tag=TAG,
            at=THE_CUSTOMER,
            answered={"Deleted": {"id": CUSTOMER_ID, "object": "customer", "deleted": True}},
            invalid=("unknown_parameter",),
            idempotent=False,
        ),
        "by_email": reading(
            "retrieve_customer_by_email",
            "Find a customer by e-mail",
            "The newest customer with this address, percent-encoded or not.",
            CUSTOMER,
            CUSTOMER_EXAMPLE,
            tag=TAG,
            at=[EMAIL_IN_PATH],
        ),
        "attach": writing(
            "attach_source",
            "Keep a source for a customer",
            "An unused source is kept (`vaulted`), and may then be charged again and again, without the payer.",
            AttachInput,
            CUSTOMER,
            tag=TAG,
            at=THE_CUSTOMER,
            sent={"Source": {"source": examples.SOURCE_ID}},
            answered={"Kept": CUSTOMER_EXAMPLE},
            conflicts=("source_already_used", "source_expired", "too_many_sources", "resource_busy"),
        ),
        "detach": writing(
            "detach_source",
            "Give a kept source up",
            "It is no longer kept, and its card data is destroyed.",
            Nothing,
            CUSTOMER,
            tag=TAG,
            at=[*THE_CUSTOMER, id_in_path("src", "source", "source_id")],
            answered={"Given up": CUSTOMER_EXAMPLE | {"sources": []}},
            invalid=("unknown_parameter",),
            idempotent=False,
        ),
    }


def describe_customers(endpoints: Sequence[Any]) -> Sequence[Any]:
    """Add the customers' schemas and descriptions; a drf-spectacular hook that returns `endpoints` unchanged."""
    EVENT_OBJECTS["customer"] = CUSTOMER
    return endpoints
