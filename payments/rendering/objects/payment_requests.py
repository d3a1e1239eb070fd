"""Payment requests as the API and the webhooks show them (checkout law, sections 2 and 5)."""

from payments.clock import seconds
from payments.models import Checkout
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.charges import CHARGE
from payments.rendering.objects.checkout import BRANDING, LINE_ITEM, branding_of, ordered, payment_url, types

REQUEST_ID = "pr_019aa3c5e9b07c2286d5a1f04e7b3c6d"
State = Checkout.State
EXAMPLE_SECONDS = 1_763_689_380
SCHEDULE_MEANS = "The days of the tries, counted from the sending, or from when collecting began."
RECURRING_MEANS = "Whether a try is one of a series at fixed times."


def _seconds(meaning: str, read: str, example: int | None = None) -> Member:
    """Return a member that shows a moment in seconds since 1970."""
    form = {"type": "integer", "minimum": 0}
    return Member(form, f"{meaning} In seconds since 1970.", example, read=read, convert=seconds)


def _ended_as(state: Checkout.State) -> str:
    return f"ended_at if row.state == {state.value!r} else None"


DELIVERED = ApiObject(
    "Delivered",
    "Where the message was taken: by the mail server, by the SMS service. Nothing is sent in test mode.",
    email=member.flag("By e-mail.", False, read="email_delivered"),
    sms=member.flag("By SMS.", False, read="sms_delivered"),
)
COLLECT = ApiObject(
    "Collect",
    "How a payment request collects itself: by charges of a kept source, without the payer.",
    schedule=Member(
        {"type": "array", "items": {"type": "integer"}}, SCHEDULE_MEANS, [0, 3, 5, 7], read="collect_schedule"
    ),
    recurring=member.flag(RECURRING_MEANS, False, read="collect_recurring"),
    tries=member.number("The tries so far.", 1, read="collect_tries"),
    next_at=member.or_null(_seconds("When the next try is due.", "collect_at", EXAMPLE_SECONDS + 3 * 86_400)),
    state=member.choice(
        ["waiting", "trying", "ended"], "`trying` while the outcome of a try is open.", "waiting", read="collect_state"
    ),
    ended_because=member.or_null(
        member.text(
            "`paid`, `voided`, `advice` of the card's bank (`failure_data.retry`), `exhausted` after the last day, "
            "`stopped` by you, `source_gone` once the source is detached or its card has expired.",
            read="collect_ended",
        )
    ),
)
# It shows a checkout of kind `request` that was read by `Checkout.objects.whole()`.
REQUEST = ApiObject(
    "PaymentRequest",
    "An invoice to one customer, who pays it on a page of kaha.",
    object=member.named("payment_request"),
    id=member.own_id("pr", REQUEST_ID),
    account_name=member.text("The merchant, as payers see it.", "Halo-Halo Haven", read="merchant.title"),
    branding=member.nested(BRANDING, "How the payer's page looks.", read=branding_of),
    created=_seconds("Time of creation.", "created_at", EXAMPLE_SECONDS),
    updated=_seconds("Time of the last change.", "updated_at", EXAMPLE_SECONDS),
    currency=member.text("ISO 4217 code, as it was sent.", "PHP", read=ordered("currency")),
    customer=member.id_of("cus", "The customer.", "cus_019aa3c5d1017f4e8b7a6c5d4e3f2a1b", read="customer_id"),
    customer_email=member.text("The customer's e-mail address.", "juan@example.com", read=ordered("customer_email")),
    customer_name=member.text(
        "The customer's `metadata.name`, else the e-mail address before the @.", "juan", read=ordered("customer_name")
    ),
    delivery_methods=Member(
        {"type": "array", "items": {"type": "string", "enum": ["email", "sms"]}},
        "How the customer gets the message.",
        ["email"],
        read=ordered("delivery_methods"),
    ),
    delivered=member.nested(DELIVERED, "Where the message was taken.", read="request"),
    line_items=member.nested(
        LINE_ITEM, "What is owed.", many=True, read=ordered("line_items"), example=[LINE_ITEM.example]
    ),
    livemode=member.livemode(),
    metadata=member.any_object("Data of the merchant's own.", {}, read="order.get('metadata') or {}"),
    number=member.text("The number on the invoice.", "4E3F2A1B-0001", read="request.number"),
    paid=member.flag("Whether it is paid.", False, read=f"state == {State.PAID.value!r}"),
    voided=member.flag("Whether it is voided.", False, read=f"state == {State.VOIDED.value!r}"),
    payment_method_types=types(),
    payment_request_url=member.web_address(
        "The payer's page.", f"https://pay.example/requests/{REQUEST_ID}", read=payment_url
    ),
    require_auth=member.flag("Whether cards go through 3-D Secure.", True, read=ordered("require_auth")),
    subtotal=member.number("The sum of the items.", 25_000, read="amount"),
    total=member.number("What the payer pays, in the currency's smallest unit.", 25_000, read="amount"),
    account_support_email=member.or_null(
        member.text("Where payers write to.", "help@shop.example", read="merchant.support_email")
    ),
    customer_phone=member.or_null(
        member.text("The customer's mobile number.", "+639171234567", read=ordered("customer_phone"))
    ),
    message=member.or_null(member.text("What the merchant says to the customer.", read=ordered("message"))),
    paid_at=member.or_null(_seconds("When it was paid.", _ended_as(State.PAID))),
    payment_details=member.or_null(member.nested(CHARGE, "The charge, as it is now.", read="paid_by", example=None)),
    void_reason=member.or_null(member.text("Why it was voided.", read="request.void_reason")),
    voided_at=member.or_null(_seconds("When it was voided.", _ended_as(State.VOIDED))),
    source=member.id_of("src", "The source that it charges.", read="request.source_id", required=False),
    collect=member.nested(
        COLLECT, "How it collects itself, if so.", read="request.source_id and row.request", required=False
    ),
)
# What the example of a paid one has otherwise.
PAID = {"paid": True, "paid_at": EXAMPLE_SECONDS, "payment_details": CHARGE.example}
# The same once it is voided: some clients read the members at the top, others in `data`.
VOIDED = ApiObject(
    "VoidedPaymentRequest",
    "A voided payment request.",
    REQUEST,
    data=member.nested(REQUEST, "The whole request once more.", read=lambda row: row),
)
