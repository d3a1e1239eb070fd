"""Customers as the API and the webhooks show them (contract, section 3)."""

from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.sources import SOURCE

CUSTOMER_ID = "cus_019aa3c5d1017f4e8b7a6c5d4e3f2a1b"
# It shows a customer that was read by `Customer.objects.whole()`.
CUSTOMER = ApiObject(
    "Customer",
    "A payer whom you know, with the sources kept for later charges.",
    object=member.named("customer"),
    id=member.own_id("cus", CUSTOMER_ID),
    email=member.text("E-mail address.", "juan@example.com"),
    mobile_number=member.or_null(member.text("Mobile number, null without one.", "+639171234567")),
    description=member.text("Who it is, in your words.", "Juan of Session Road"),
    sources=member.nested(
        SOURCE,
        "The sources kept, newest first.",
        many=True,
        read=lambda customer: [tie.source for tie in customer.kept],
        example=[SOURCE.example | {"used": True, "vaulted": True}],
    ),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
    metadata=member.metadata(),
)
# It shows the text of an ID.
DELETED = ApiObject(
    "DeletedCustomer",
    "What is left of a deleted customer.",
    id=Member(member.id_form("cus"), "The object's ID.", read=str, example=CUSTOMER_ID),
    object=member.named("customer"),
    deleted=Member({"type": "boolean", "const": True}, "Always `true`."),
)
