"""The operations of payments in the OpenAPI document. The views import nothing of the document."""

from django.conf import settings

from payments.api.schema import examples
from payments.api.schema.operations import DescribedView, id_in_path, listing, reading, writing
from payments.api.validation.evidence import EvidenceInput
from payments.api.validation.query_fields import ChargeListQuery, DisputeListQuery, EventListQuery
from payments.api.validation.serializers import (
    CaptureInput,
    ChargeInput,
    RefundInput,
    SourceInput,
    VerifyInput,
)
from payments.api.validation.strict import Nothing
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.error_table import RESOURCE_BUSY
from payments.rendering.objects.charges import CHARGE
from payments.rendering.objects.disputes import DISPUTE, EVIDENCE, EVIDENCE_LIST
from payments.rendering.objects.events import EVENT
from payments.rendering.objects.sources import SOURCE


class Sources(DescribedView):
    target_class = "payments.api.sources.SourceViewSet"
    tag = "Sources"
    at = [id_in_path("src", "source")]
    operations = {
        "create": writing(
            "create_source",
            "Create a source",
            "Wraps a card, wallet or bank account for one charge, or to be kept for a customer. A browser may do this "
            "with a publishable key, so that card numbers never pass your server. A security code that is not used "
            "within an hour is destroyed, and the card is then charged without one. The number of a card that is "
            f"neither charged nor kept for a customer within {settings.UNUSED_CARD_KEEP_DAYS} days is destroyed too, "
            "and the source is refused from then on: `source_expired`.",
            SourceInput,
            SOURCE,
            sent={"Card": examples.CARD_SOURCE_REQUEST, "Wallet": examples.WALLET_SOURCE_REQUEST},
            answered={"Card": SOURCE.example, "Wallet": examples.WALLET_SOURCE},
            conflicts=(),
            handles_cards=True,
            open_to_browsers=True,
        ),
        "retrieve": reading(
            "retrieve_source", "Retrieve a source", "A publishable key is enough.", SOURCE, open_to_browsers=True
        ),
    }


class Charges(DescribedView):
    target_class = "payments.api.charges.ChargeViewSet"
    tag = "Charges"
    at = [id_in_path("ch", "charge")]
    operations = {
        "create": writing(
            "create_charge",
            "Create a charge",
            "Takes money, or holds it with `capture: false`. A decline is an answer, not an error: 201 with the "
            "status `failed`. A charge with an `action` waits for its payer. The outcome of a `pending` charge without "
            "one is unknown, and the provider is asked for it.",
            ChargeInput,
            CHARGE,
            status=201,
            sent={"Hold": examples.CHARGE_REQUEST},
            answered={
                "Held": examples.HELD,
                "Awaiting the payer": examples.AWAITING_PAYER,
                "Awaiting a PIN": examples.AWAITING_PIN,
                "Declined": examples.DECLINED,
            },
            conflicts=(errors.SOURCE_ALREADY_USED, errors.SOURCE_EXPIRED, errors.RETRY_NOT_ALLOWED, RESOURCE_BUSY),
            invalid=[errors.NOT_ALLOWED],
            may_miss=True,
            may_be_unavailable=True,
            handles_cards=True,
        ),
        "list": listing(
            "list_charges",
            "List charges",
            "Newest first. `next` is the path of the next page, with every filter kept.",
            CHARGE,
            "/v2/charges/",
            ChargeListQuery,
            example=examples.CAPTURED,
        ),
        "retrieve": reading(
            "retrieve_charge",
            "Retrieve a charge",
            "The charge as it is now, with its source and refunds.",
            CHARGE,
            examples.CAPTURED,
        ),
        "capture": writing(
            "capture_charge",
            "Capture a charge",
            "Captures all or part of the held money, once. The rest is released; `amount` stays as it was and "
            "`amount_captured` says how much was captured.",
            CaptureInput,
            CHARGE,
            sent={"All": {}, "Part": {"amount": 120_000}},
            answered={"Captured": examples.CAPTURED},
            conflicts=(errors.CHARGE_NOT_CAPTURABLE, errors.AMOUNT_TOO_LARGE, RESOURCE_BUSY),
            may_be_unavailable=True,
        ),
        "void": writing(
            "void_charge",
            "Void a charge",
            "Releases held money, or returns captured money that is not settled yet. It cannot be undone. For a "
            "captured charge a restricted key needs `refunds:write` too, because the money is returned as by a refund.",
            Nothing,
            CHARGE,
            answered={"Voided": examples.VOIDED},
            conflicts=(errors.CHARGE_NOT_VOIDABLE, RESOURCE_BUSY),
            may_be_unavailable=True,
        ),
        "refund": writing(
            "refund_charge",
            "Refund a charge",
            "Returns all or part of the captured money to the payer. A refund may stay `pending` for a while, and a "
            "failed refund gives its amount back to the charge.",
            RefundInput,
            CHARGE,
            sent={"What is left": {}, "Part": {"amount": 50_000, "reason": "Out of stock"}},
            answered={"Part refunded": examples.REFUNDED},
            conflicts=(errors.CHARGE_NOT_REFUNDABLE, errors.AMOUNT_TOO_LARGE, errors.TOO_MANY_REFUNDS, RESOURCE_BUSY),
            may_be_unavailable=True,
        ),
        "verify": writing(
            "verify_charge",
            "Confirm a debit by a PIN",
            "For a charge whose `action` is `verify_otp`. A wrong PIN leaves it pending as long as the bank allows "
            "another try.",
            VerifyInput,
            CHARGE,
            sent={"PIN": {"confirmation_id": "7d1b0c55", "otp": "123456"}},
            answered={"Verified": examples.CAPTURED},
            conflicts=(errors.CHARGE_NOT_VERIFIABLE, RESOURCE_BUSY),
            may_be_unavailable=True,
        ),
    }


class Events(DescribedView):
    target_class = "payments.api.events.EventViewSet"
    tag = "Events"
    at = [id_in_path("evt", "event")]
    operations = {
        "list": listing(
            "list_events",
            "List events",
            "Newest first. A receiver can read here the events that it missed. To follow them, send the newest ID that "
            "you have as `ending_before`, and `wait`: the answer comes with the next events, which are held back for a "
            "second, so that none with an earlier ID can follow.",
            EVENT,
            "/v2/events/",
            EventListQuery,
            example=examples.EVENT,
        ),
        "retrieve": reading(
            "retrieve_event",
            "Retrieve an event",
            "The same bytes that are sent to `redirect.notify`.",
            EVENT,
            examples.EVENT,
        ),
    }


class Disputes(DescribedView):
    target_class = "payments.api.disputes.DisputeViewSet"
    tag = "Disputes"
    at = [id_in_path("dp", "dispute")]
    operations = {
        "list": listing(
            "list_disputes",
            "List disputes",
            "Charges that payers dispute with their bank, newest first.",
            DISPUTE,
            "/v2/disputes/",
            DisputeListQuery,
        ),
        "retrieve": reading(
            "retrieve_dispute",
            "Retrieve a dispute",
            "How a dispute stands, and whether the payer's bank has the money.",
            DISPUTE,
        ),
        "evidence": writing(
            "add_evidence",
            "Add evidence to a dispute",
            "A text or a file that shows that the charge was right. A dispute has one piece of each type: a further "
            "one replaces it. Nothing is sent before `submit`. The body may be 3 MiB long.",
            EvidenceInput,
            EVIDENCE,
            status=201,
            sent={"Text": examples.EVIDENCE_REQUEST},
            answered={"Added": EVIDENCE.example},
            conflicts=(errors.DISPUTE_NOT_ANSWERABLE, errors.EVIDENCE_LIMIT_REACHED, RESOURCE_BUSY),
            handles_cards=True,
        ),
        "list_evidence": reading(
            "list_evidence",
            "List the evidence of a dispute",
            "All pieces, oldest first, without their contents.",
            EVIDENCE_LIST,
        ),
        "submit": writing(
            "submit_evidence",
            "Submit the evidence of a dispute",
            "Sends the evidence to the payer's bank, once, before `evidence_due_at`. It cannot be changed afterwards. "
            "The answer comes at once; `dispute.updated` says when the provider has it. A dispute at Xendit answers "
            "`dispute_not_answerable`: respond there in its dashboard.",
            Nothing,
            DISPUTE,
            answered={"Submitted": examples.SUBMITTED},
            conflicts=(errors.DISPUTE_NOT_ANSWERABLE, errors.EVIDENCE_MISSING, RESOURCE_BUSY),
        ),
        "accept": writing(
            "accept_dispute",
            "Accept a dispute",
            "Gives the disputed money up. It cannot be undone.",
            Nothing,
            DISPUTE,
            answered={"Accepted": examples.ACCEPTED},
            conflicts=(errors.DISPUTE_NOT_ANSWERABLE, RESOURCE_BUSY),
        ),
    }
