"""Checkout sessions in the OpenAPI document."""

from payments.api.schema.examples import page
from payments.api.schema.operations import DescribedView, id_in_path, reading, writing
from payments.api.schema.responses import page_of
from payments.api.validation.checkout import PartInput, SessionInput
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing
from payments.rendering.objects.charges import CHARGE
from payments.rendering.objects.checkout import LINE_ITEM, SESSION

TAG = "Checkout"
THE_SESSION = [id_in_path("cs", "checkout session")]
ORDER = {
    "success_url": "https://shop.example/thanks?session={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://shop.example/cart",
    "currency": "PHP",
    "line_items": [{name: LINE_ITEM.example[name] for name in ("name", "amount", "quantity")}],
    "payment_method_types": ["card", "gcash"],
}
PAID = SESSION.example | {"payment_status": "paid", "payment_details": CHARGE.example}


class Sessions(DescribedView):
    target_class = "payments.api.checkout.sessions.SessionViewSet"
    operations = {
        "list": reading(
            "list_checkout_sessions",
            "List checkout sessions",
            "Newest first.",
            page_of(SESSION),
            page("/v2/checkout_sessions/", SESSION.example),
            tag=TAG,
            query=PageQuery,
            of_checkout=True,
        ),
        "create": writing(
            "create_checkout_session",
            "Create a checkout session",
            "Makes a page on which one payer pays once. Send the payer to its `payment_url`; afterwards the browser "
            "comes to your `success_url` or `cancel_url`, and the event `checkout_session.completed` says that it is "
            "paid.",
            SessionInput,
            SESSION,
            tag=TAG,
            status=201,
            sent={"Order": ORDER},
            answered={"Unpaid": SESSION.example},
            conflicts=(),
            invalid=("missing", "unknown_parameter", "invalid_type", "total_out_of_range", "source_type_unavailable"),
            of_checkout=True,
        ),
        "retrieve": reading(
            "retrieve_checkout_session",
            "Retrieve a checkout session",
            "The session as it is now; once paid, its charge is in `payment_details`.",
            SESSION,
            PAID,
            tag=TAG,
            at=THE_SESSION,
            of_checkout=True,
        ),
        "expire": writing(
            "expire_checkout_session",
            "Expire a checkout session",
            "Ends a session that is not paid.",
            Nothing,
            SESSION,
            tag=TAG,
            at=THE_SESSION,
            answered={"Expired": SESSION.example | {"payment_status": "expired"}},
            conflicts=("session_busy", "session_not_expirable"),
            invalid=("unknown_parameter",),
            of_checkout=True,
        ),
        "capture": writing(
            "capture_checkout_session",
            "Capture a checkout session",
            "Takes the money that a session in mode `setup` holds, or a part of it; the rest is released. A restricted "
            "key needs `charges:write`, too.",
            PartInput,
            SESSION,
            tag=TAG,
            at=THE_SESSION,
            answered={"Paid": PAID},
            conflicts=("session_not_capturable", "resource_busy"),
            may_be_unavailable=True,
            of_checkout=True,
        ),
    }
