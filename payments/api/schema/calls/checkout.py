"""Checkout sessions and payment requests in the OpenAPI document."""

from payments.api.schema.operations import CHECKOUT, DescribedView, id_in_path, listing, reading, writing
from payments.api.validation.checkout import PartInput, SessionInput
from payments.api.validation.payment_requests import CollectingRequestInput, CollectInput, RequestListQuery, VoidInput
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.event_types import EVENT_TYPES, REQUEST_SUCCEEDED, SESSION_COMPLETED
from payments.rendering.objects.checkout import LINE_ITEM, SESSION
from payments.rendering.objects.payment_requests import COLLECT, REQUEST, VOIDED

ORDER = {
    "success_url": "https://shop.example/thanks?session={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://shop.example/cart",
    "currency": "PHP",
    "line_items": [{name: LINE_ITEM.example[name] for name in ("name", "amount", "quantity")}],
    "payment_method_types": ["card", "gcash"],
}
INVOICE = {name: ORDER[name] for name in ("currency", "line_items", "payment_method_types")} | {
    "customer": REQUEST.example["customer"],
    "delivery_methods": ["email"],
    "message": "Thank you for the order!",
}
SOURCE_ID = "src_019aa3c5d2b87e4c9f1a0b3d5e7f9a1c"
COLLECTING = REQUEST.example | {"source": SOURCE_ID, "collect": COLLECT.example}
STOPPED = {"next_at": None, "state": "ended", "ended_because": "stopped"}
VOID = REQUEST.example | {"voided": True, "voided_at": REQUEST.example["updated"], "void_reason": "Sent twice"}


class Sessions(DescribedView):
    target_class = "payments.api.checkout.sessions.SessionViewSet"
    tag = CHECKOUT
    at = [id_in_path("cs", "checkout session")]
    operations = {
        "list": listing(
            "list_checkout_sessions",
            "List checkout sessions",
            "Newest first.",
            SESSION,
            "/v2/checkout_sessions/",
            PageQuery,
        ),
        "create": writing(
            "create_checkout_session",
            "Create a checkout session",
            "Makes a page on which one payer pays once. Send the payer to its `payment_url`; afterwards the browser "
            "comes to your `success_url` or `cancel_url`, and the event `checkout_session.completed` says that it is "
            "paid.",
            SessionInput,
            SESSION,
            status=201,
            sent={"Order": ORDER},
            answered={"Unpaid": SESSION.example},
            conflicts=(),
            may_miss=True,
            invalid=[errors.SOURCE_TYPE_UNAVAILABLE],
            may_not_be_taken=True,
        ),
        "retrieve": reading(
            "retrieve_checkout_session",
            "Retrieve a checkout session",
            "The session as it is now; once paid, its charge is in `payment_details`.",
            SESSION,
            EVENT_TYPES[SESSION_COMPLETED].example,
        ),
        "expire": writing(
            "expire_checkout_session",
            "Expire a checkout session",
            "Ends a session that is not paid.",
            Nothing,
            SESSION,
            answered={"Expired": SESSION.example | {"payment_status": "expired"}},
            conflicts=(errors.SESSION_BUSY, errors.SESSION_NOT_EXPIRABLE),
        ),
        "capture": writing(
            "capture_checkout_session",
            "Capture a checkout session",
            "Takes the money that a session in mode `setup` holds, or a part of it; the rest is released. A restricted "
            "key needs `charges:write`, too.",
            PartInput,
            SESSION,
            answered={"Paid": EVENT_TYPES[SESSION_COMPLETED].example},
            conflicts=(errors.SESSION_NOT_CAPTURABLE, errors.RESOURCE_BUSY),
            may_be_unavailable=True,
        ),
    }


class PaymentRequests(DescribedView):
    target_class = "payments.api.checkout.requests.RequestViewSet"
    tag = CHECKOUT
    at = [id_in_path("pr", "payment request")]
    operations = {
        "list": listing(
            "list_payment_requests",
            "List payment requests",
            "Newest first.",
            REQUEST,
            "/v2/payment_requests/",
            RequestListQuery,
        ),
        "create": writing(
            "create_payment_request",
            "Create a payment request",
            "Sends a customer an invoice, by e-mail, SMS or both, with the address of a page on which it is paid. It "
            "stays open until it is paid or voided. With `source` and `collect` it collects itself: it "
            "charges a kept card on the days of a schedule. A restricted key needs `charges:write`, too.",
            CollectingRequestInput,
            REQUEST,
            status=201,
            sent={"Invoice": INVOICE},
            answered={"Open": REQUEST.example},
            conflicts=(),
            invalid=[errors.SOURCE_TYPE_UNAVAILABLE],
            may_miss=True,
            may_not_be_taken=True,
        ),
        "retrieve": reading(
            "retrieve_payment_request",
            "Retrieve a payment request",
            "The request as it is now; once paid, its charge is in `payment_details`.",
            REQUEST,
            EVENT_TYPES[REQUEST_SUCCEEDED].example,
        ),
        "void": writing(
            "void_payment_request",
            "Void a payment request",
            "Withdraws an open request for good. Money that comes in afterwards is given back.",
            VoidInput,
            VOIDED,
            sent={"Reason": {"reason": "Sent twice"}},
            answered={"Voided": VOID | {"data": VOID}},
            conflicts=(errors.REQUEST_BUSY, errors.REQUEST_NOT_VOIDABLE),
        ),
        "resend": writing(
            "resend_payment_request",
            "Send a payment request again",
            "Sends the message about an open request again: once a minute, and 10 times in all.",
            Nothing,
            REQUEST,
            answered={"Open": REQUEST.example},
            conflicts=(errors.REQUEST_NOT_OPEN,),
        ),
        "collect": writing(
            "collect_payment_request",
            "Collect a payment request",
            "Lets an open request collect itself, or by another source or schedule than before; the days are counted "
            "from now. A restricted key needs `charges:write`, too.",
            CollectInput,
            REQUEST,
            sent={"Source": {"source": SOURCE_ID, "collect": {"schedule": [0, 3, 5, 7]}}},
            answered={"Waiting": COLLECTING},
            conflicts=(errors.REQUEST_BUSY, errors.REQUEST_NOT_OPEN),
            may_miss=True,
        ),
        "stop_collecting": writing(
            "stop_collecting_payment_request",
            "Stop collecting a payment request",
            "Charges the kept source no more. The request stays open, and its payer can pay it on its page.",
            Nothing,
            REQUEST,
            answered={"Stopped": COLLECTING | {"collect": COLLECT.example | STOPPED}},
            conflicts=(errors.REQUEST_BUSY, errors.REQUEST_NOT_OPEN),
        ),
    }
