"""What helps to win a dispute, for its page: what its reason needs, what is there, and what is won or lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.disputes.responses import ANSWERED, AddEvidence
from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Part, address_of
from payments.admin.timeline.page import FOR_MERCHANTS, FOR_OPERATORS, story_of, timeline
from payments.admin.timeline.records import Records
from payments.domain.disputes import evidence
from payments.models import Charge, Dispute, Evidence
from payments.providers.disputes import EvidenceType, Reason

SHOWS: Mapping[str, Any] = {
    EvidenceType.RECEIPT: _("What was bought, by whom, at what price."),
    EvidenceType.SHIPPING: _("To the address of the payer, and when it came."),
    EvidenceType.SERVICE: _("That the service was used, and when."),
    EvidenceType.SIGNATURE: _("That the payer signed for it or agreed to it."),
    EvidenceType.COMMUNICATION: _("Mails or chats in which the payer speaks of the order."),
    EvidenceType.REFUND_POLICY: _("Your rules for refunds, as the payer saw them before paying."),
    EvidenceType.CANCELLATION_POLICY: _("How a subscription ends, as the payer saw it before paying."),
    EvidenceType.DUPLICATE: _("That the two payments are for two different orders."),
    EvidenceType.OTHER: _("In 3 or 4 sentences: what happened, and what proves it."),
}
# In the order in which they help; of every reason, words to the bank at last.
NEEDS: Mapping[str, Sequence[EvidenceType]] = {
    Reason.FRAUDULENT: (EvidenceType.RECEIPT, EvidenceType.SHIPPING, EvidenceType.COMMUNICATION),
    Reason.NOT_RECEIVED: (EvidenceType.SHIPPING, EvidenceType.SIGNATURE, EvidenceType.COMMUNICATION),
    Reason.NOT_AS_DESCRIBED: (EvidenceType.RECEIPT, EvidenceType.COMMUNICATION, EvidenceType.REFUND_POLICY),
    Reason.CREDIT_NOT_PROCESSED: (EvidenceType.REFUND_POLICY, EvidenceType.COMMUNICATION),
    Reason.SUBSCRIPTION_CANCELED: (EvidenceType.CANCELLATION_POLICY, EvidenceType.SERVICE, EvidenceType.COMMUNICATION),
    Reason.DUPLICATE: (EvidenceType.DUPLICATE, EvidenceType.RECEIPT),
    Reason.PROCESSING_ERROR: (EvidenceType.RECEIPT, EvidenceType.COMMUNICATION),
    Reason.UNRECOGNIZED: (EvidenceType.RECEIPT, EvidenceType.SHIPPING, EvidenceType.COMMUNICATION),
    Reason.GENERAL: (EvidenceType.RECEIPT, EvidenceType.SHIPPING, EvidenceType.COMMUNICATION),
}


@dataclass(frozen=True, slots=True)
class Need:
    """A type of evidence: what it shows, the piece that is there and its `kind`, and where one is added."""

    label: str
    shows: Any
    piece: Evidence | None
    kind: str
    add: str


class WhatIsNeeded(Part):
    """What a dispute needs while it can be answered, and what is won or lost by it until it is decided."""

    for_merchants = True

    def beside_row(self, page: Any, request: HttpRequest, row: Dispute) -> dict[str, Any]:
        if row.status not in (Dispute.Status.WARNING, Dispute.Status.NEEDS_RESPONSE, Dispute.Status.UNDER_REVIEW):
            return {}
        needs = list(_needs(page, request, row))
        is_open = row.status != Dispute.Status.UNDER_REVIEW and row.response_state not in ANSWERED
        amount, fee = money(row.amount, row.currency), money(row.fee, row.currency)
        lost = gettext("It stays with the payer.") if row.withdrawn else gettext("The bank may take it.")
        kept = gettext("The fee of {amount} is not given back.").format(amount=fee) if row.fee else ""
        return {
            "needs": needs if is_open else (),
            "ready": sum(bool(need.piece) for need in needs),
            "won": f"+{amount}" if row.withdrawn else amount,
            "won_words": gettext("The bank gives it back.") if row.withdrawn else gettext("The bank takes nothing."),
            "lost": money(-row.amount, row.currency),
            "lost_words": f"{lost} {kept}".strip(),
        }


def _needs(page: Any, request: HttpRequest, dispute: Dispute) -> Iterator[Need]:
    """Yield what the reason needs, then what is there beside it."""
    pieces = {piece.type: piece for piece in evidence.of_dispute(dispute)}
    named = [*NEEDS.get(dispute.reason, NEEDS[Reason.GENERAL]), EvidenceType.OTHER]
    may_add = request.user.has_perm(AddEvidence.permission)
    for kind in dict.fromkeys([*named, *map(EvidenceType, pieces)]):
        piece = pieces.get(kind)
        label = gettext(kind.replace("_", " ").capitalize())
        label = gettext("Your words to the bank") if kind == EvidenceType.OTHER else label
        add = f"{address_of(page, AddEvidence.name, dispute.pk)}?{urlencode({'type': kind.value})}" if may_add else ""
        yield Need(label, SHOWS[kind], piece, described(piece) if piece else "", add)


def described(piece: Evidence) -> str:
    """Return what a piece is and its size, in words."""
    names = {evidence.TEXT: gettext("Text"), "application/pdf": "PDF"}
    return f"{names.get(piece.content_type) or gettext('Picture')}, {filesizeformat(piece.size)}"


class WhatHappened(Part):
    """What happened to the payment of a dispute, as the payment's own page says it in words."""

    for_merchants = True

    def beside_row(self, page: Any, request: HttpRequest, row: Dispute) -> dict[str, Any]:
        contents = FOR_OPERATORS if page.policy.is_for_operators else FOR_MERCHANTS
        charge = Charge.objects.select_related("merchant", "source__card").get(pk=row.charge_id)
        return {"timeline": {"story": story_of(timeline(Records(charge), False, contents))}}
