"""Responses to disputes. Xendit is first asked how the dispute stands, so that nothing that is there is sent again.

Evidence is added first and challenges nothing by itself. Only the last call is final, and acknowledged before it is
done; a state that does not allow it may be that of an earlier try, so it is unknown, and asked again.
"""

from collections.abc import Sequence
from typing import Literal

from payments.concurrency.bounded_process import HostBusy
from payments.providers.base import Approved, NotSent, Outcome, Rejected, Unknown
from payments.providers.disputes import UNUSABLE, DisputeResponse, Response
from payments.providers.evidence.documents import Unusable, documents_of
from payments.providers.xendit import calls
from payments.providers.xendit.client import Asked, XenditAnswer, XenditClient
from payments.providers.xendit.disputes.evidence import EvidencePlace, placed
from payments.providers.xendit.fields import Body, objects, refused, text

WAITING = "ACTION_REQUIRED"
# Lost without the evidence that is there.
WITHOUT_EVIDENCE = ("ACCEPTED", "EXCEEDED_DEADLINE")
# So that one response takes no longer than its lease; the next try deletes more.
DELETIONS_MAX = 6


def respond(client: XenditClient, asked: DisputeResponse) -> Outcome:
    """Return the outcome of a response; the same as before is sent once."""
    answer = calls.get_dispute(client, asked.provider_ref)
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code:
        return refused(answer)
    if text(answer.body, "id") != asked.provider_ref:
        return Unknown("the provider names another dispute")
    return (_accept if asked.response is Response.ACCEPT else _challenge)(client, asked, answer.body)


def _accept(client: XenditClient, asked: DisputeResponse, body: Body) -> Outcome:
    if text(body, "status") == WAITING:
        return _ended(client, asked, "accept")
    is_accepted = (text(body, "status"), text(body, "status_reason")) == ("LOST", "ACCEPTED")
    return Approved(asked.provider_ref) if is_accepted else _too_late(body)


def _challenge(client: XenditClient, asked: DisputeResponse, body: Body) -> Outcome:
    try:
        places = placed(body.get("category"), asked.evidence)
    except Unusable as why:
        return Rejected(UNUSABLE, str(why))
    there = objects(body, "evidences")
    missing = [place for place in places if not any(place.has(item) for item in there)]
    if text(body, "status") != WAITING:
        has_it = not missing and text(body, "status_reason") not in WITHOUT_EVIDENCE
        return Approved(asked.provider_ref) if has_it else _too_late(body)
    # What the bank has seen already cannot be deleted.
    is_first = not text(body, "status_reason")
    old = [item for item in there if not any(place.has(item) for place in places)] if is_first else []
    return _deleted(client, asked, old) or _added(client, asked, missing) or _ended(client, asked, "challenge")


def _deleted(client: XenditClient, asked: DisputeResponse, old: Sequence[Body]) -> Outcome | None:
    """Delete evidence of an earlier try; return why it is not deleted, None where it is."""
    for item in old[:DELETIONS_MAX]:
        answer = calls.delete_evidence(client, asked.provider_ref, text(item, "id"))
        if not isinstance(answer, XenditAnswer):
            return answer
        if answer.error_code:
            return Unknown(f"earlier evidence is not deleted: {answer.error_code}")
    return Unknown("there is more of an earlier try to delete") if len(old) > DELETIONS_MAX else None


def _added(client: XenditClient, asked: DisputeResponse, missing: Sequence[EvidencePlace]) -> Outcome | None:
    """Add the evidence that is missing; return why it is not added whole, None where it is."""
    if not missing:
        return None
    files = {place.name: place for place in missing if place.is_file}
    try:
        pieces = {name: place.pieces for name, place in files.items()}
        documents = documents_of(pieces, {name: place.limit for name, place in files.items()})
    except Unusable as why:
        return Rejected(UNUSABLE, str(why))
    except HostBusy as why:
        return NotSent(str(why))
    fields = [place.field(documents.get(place.name)) for place in missing]
    answer = calls.add_evidence(client, asked.provider_ref, fields)
    if not isinstance(answer, XenditAnswer) or answer.error_code:
        return _refusal(answer)
    if failed := objects(answer.body, "evidences_failed"):
        named = ", ".join(_failure(item) for item in failed)
        return Rejected("evidence_refused", f"Xendit does not take all of the evidence: {named}")
    added = {text(item, "category_slug") for item in objects(answer.body, "evidences_succeeded")}
    whole = all(place.name in added for place in missing)
    return None if whole else Unknown("the provider does not say whether it has all of the evidence")


def _failure(item: Body) -> str:
    return f"{text(item, 'category_slug')} ({text(item, 'reason') or text(item, 'error_code')})"


def _ended(client: XenditClient, asked: DisputeResponse, how: Literal["challenge", "accept"]) -> Outcome:
    answer = calls.respond(client, asked.provider_ref, how)
    if not isinstance(answer, XenditAnswer) or answer.error_code:
        return _refusal(answer)
    is_ours = text(answer.body, "dispute_id") == asked.provider_ref
    return Approved(asked.provider_ref) if is_ours else Unknown("the provider names another dispute")


def _refusal(answer: Asked) -> Outcome:
    """Return the outcome of what was not done, or not certainly."""
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code == "ILLEGAL_STATE":
        return Unknown("the dispute takes no response in its state, which may be that of an earlier try")
    return refused(answer)


def _too_late(body: Body) -> Rejected:
    status = " ".join(text(body, name).lower().replace("_", " ") for name in ("status", "status_reason")).strip()
    return Rejected("dispute_not_answerable", f"At Xendit the dispute is {status}, and takes this response no more.")
