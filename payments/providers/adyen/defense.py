"""Responses to disputes by Adyen's Disputes API (v30).

Adyen names the reasons by which a dispute can be defended, and of each the document types that it wants. One is chosen
that the evidence can fill. A document of an earlier try is deleted first, because Adyen does not say what a second one
of its type does. Nothing is final before the last call, which is harmless when repeated: what is defended or accepted
already is refused, and Adyen reports it by webhook.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from payments.concurrency.bounded_process import HostBusy
from payments.providers.adyen.client import AdyenClient, AdyenRefused, ask
from payments.providers.base import Approved, NotSent, Outcome, Rejected, Unknown
from payments.providers.disputes import UNUSABLE, DisputeResponse, Evidence, EvidenceType, Response
from payments.providers.evidence.documents import Limit, Unusable, documents_of

Answer = dict[str, Any]

# Of a PDF; kaha takes no larger file of any type.
LIMIT = Limit("Adyen", 2 * 1024**2)
REQUIRED, ONE_OR_MORE = "Required", "OneOrMore"
ANY = tuple(EvidenceType)
# What each of Adyen's document types shows, those that say most first. Reasons that want others are not chosen: they
# claim what no evidence of ours says, such as that goods were not returned.
SHOWS: dict[str, tuple[EvidenceType, ...]] = {
    "TIDorInvoice": (EvidenceType.RECEIPT,),
    "DateMerchandiseShipped": (EvidenceType.SHIPPING,),
    "ProofOfGoodsOrServicesProvided": (EvidenceType.SHIPPING, EvidenceType.SIGNATURE, EvidenceType.SERVICE),
    "ProofOfAbilityToProvideServices": (EvidenceType.SERVICE,),
    "GoodsWereAsDescribed": (EvidenceType.SERVICE, EvidenceType.COMMUNICATION),
    "DisclosureAtPointOfInteraction": (EvidenceType.CANCELLATION_POLICY, EvidenceType.REFUND_POLICY),
    "CompellingEvidence": (EvidenceType.COMMUNICATION, EvidenceType.SERVICE, EvidenceType.SIGNATURE),
    "DefenseMaterial": ANY,
    "AdditionalInformation": ANY,
}
# It claims nothing by itself.
GENERAL_REASON = "SupplyDefenseMaterial"
NO_REASON = "Adyen names no reason by which this dispute could be defended."


@dataclass(frozen=True, slots=True)
class Defense:
    """A reason, the evidence for each of its document types, and those types that Adyen has a document of."""

    reason: str
    evidence: dict[str, list[Evidence]]
    known: frozenset[str]


def respond(client: AdyenClient, merchant_account: str, asked: DisputeResponse) -> Outcome:
    """Return the outcome of a response. Raise Refused."""
    named = {"merchantAccountCode": merchant_account, "disputePspReference": asked.provider_ref}
    if asked.response is Response.ACCEPT:
        _done(ask(client.accept_dispute, named))
        return Approved(asked.provider_ref)
    reasons = _done(ask(client.list_defense_reasons, named)).get("defenseReasons") or []
    try:
        defense = _chosen(reasons, asked.evidence)
        documents = documents_of(defense.evidence, dict.fromkeys(defense.evidence, LIMIT))
    except Unusable as why:
        return Rejected(UNUSABLE, str(why))
    except HostBusy as why:
        return NotSent(str(why))
    for kind in sorted(defense.known & documents.keys()):
        _done(ask(client.delete_defense_document, named | {"defenseDocumentType": kind}))
    supplied = [
        {"defenseDocumentTypeCode": kind, "contentType": document.content_type, "content": document.content}
        for kind, document in documents.items()
    ]
    _done(ask(client.supply_defense_document, named | {"defenseDocuments": supplied}))
    _done(ask(client.defend_dispute, named | {"defenseReasonCode": defense.reason}))
    return Approved(asked.provider_ref)


def _done(answer: Answer) -> Answer:
    """Return an answer that reports success. Raise Refused with Adyen's words where it does not."""
    match answer.get("disputeServiceResult"):
        case {"success": True}:
            return answer
        case {"success": False, **more}:
            raise AdyenRefused(Rejected("dispute_service", str(more.get("errorMessage") or "Adyen gives no reason.")))
        case _:
            raise AdyenRefused(Unknown("the provider does not say whether it was done"))


def _chosen(reasons: Iterable[Answer], evidence: Sequence[Evidence]) -> Defense:
    """Return the reason that the evidence fills with the least joining, the general one first. Raise Unusable."""
    named = {str(reason["defenseReasonCode"]): reason.get("defenseDocumentTypes") or [] for reason in reasons}
    filled = [defense for code, kinds in named.items() if (defense := _filled(code, kinds, evidence))]
    if filled:
        return min(filled, key=lambda defense: (defense.reason != GENERAL_REASON, -len(defense.evidence)))
    raise Unusable(_wanted(named.values()))


def _filled(code: str, kinds: Sequence[Answer], evidence: Sequence[Evidence]) -> Defense | None:
    """Return the reason with the evidence in its document types; None where a type that it wants stays empty."""
    levels = {kind["defenseDocumentTypeCode"]: kind["requirementLevel"] for kind in kinds}
    wanted = [kind for kind in levels if levels[kind] == REQUIRED]
    some = [kind for kind in levels if levels[kind] == ONE_OR_MORE]
    placed = _placed([kind for kind in SHOWS if kind in levels], evidence)
    if some and not any(kind in placed for kind in some):
        wanted.append(next((kind for kind in some if _showing(kind, evidence)), some[0]))
    for kind in wanted:
        # The same piece may have to serve twice.
        if kind not in placed and (piece := _showing(kind, evidence)):
            placed[kind] = [piece]
    if not (wanted or some) or not all(kind in placed for kind in wanted):
        return None
    main = (wanted or [kind for kind in some if kind in placed])[0]
    placed[main] += [piece for piece in evidence if not any(piece in pieces for pieces in placed.values())]
    known = frozenset(kind["defenseDocumentTypeCode"] for kind in kinds if kind["available"])
    return Defense(code, placed, known)


def _placed(kinds: Sequence[str], evidence: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    """Return each piece under the document type that says most of it, if there is one."""
    placed: dict[str, list[Evidence]] = {}
    for piece in evidence:
        if kind := next((kind for kind in kinds if piece.type in SHOWS[kind]), None):
            placed.setdefault(kind, []).append(piece)
    return placed


def _showing(kind: str, evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the piece that shows best what a document of this type is to show."""
    found = (piece for shown in SHOWS.get(kind, ()) for piece in evidence if piece.type is shown)
    return next(found, None)


def _wanted(choices: Iterable[Sequence[Answer]]) -> str:
    """Return which evidence would do."""
    kinds = {kind["defenseDocumentTypeCode"] for kinds in choices for kind in kinds}
    types = sorted({shown.value for kind in kinds for shown in SHOWS.get(kind, ())})
    if not types:
        return f"{NO_REASON} Respond in Adyen's Customer Area."
    return f"Adyen defends this dispute by other evidence. Add some of: {', '.join(types)}."
