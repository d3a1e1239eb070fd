"""Sources, charges, refunds and disputes as the API and the webhooks show them (contract, section 3)."""

from typing import Any

from payments.clock import iso
from payments.ids import public_id
from payments.models import Card, Charge, Dispute, Evidence, Refund, Source
from payments.rendering.wire import without_absent


def render_card(card: Card) -> dict[str, Any]:
    return {
        "object": "card",
        "id": public_id("card", card.id),
        "name": card.name,
        "last4": card.last4,
        "exp_month": card.exp_month,
        "exp_year": card.exp_year,
        **card.address,
        "brand": card.brand,
        "country": card.country,
        "cvc_checked": card.cvc_checked,
        "funding": card.funding,
        "issuing_bank": card.issuing_bank,
    }


def render_source(source: Source) -> dict[str, Any]:
    """Return `source`, read with its card (`select_related("card")`), as the API shows it."""
    card = getattr(source, "card", None)
    return without_absent(
        {
            "object": "source",
            "id": public_id("src", source.id),
            "type": source.type,
            "card": render_card(card) if card else None,
            "bank_account": source.bank_account,
            "redirect": source.redirect,
            "owner": source.owner,
            "vaulted": source.vaulted,
            "used": source.used,
            "livemode": source.livemode,
            "created_at": iso(source.created_at),
            "updated_at": iso(source.updated_at),
            "metadata": source.metadata or {},
        }
    )


def render_refund(refund: Refund) -> dict[str, Any]:
    return {
        "object": "refund",
        "id": public_id("re", refund.id),
        "amount": refund.amount,
        "charge": public_id("ch", refund.charge_id),
        "currency": refund.currency,
        "reason": refund.reason,
        "status": refund.status,
        "livemode": refund.livemode,
        "created_at": iso(refund.created_at),
        "updated_at": iso(refund.updated_at),
    }


def render_dispute(dispute: Dispute) -> dict[str, Any]:
    return without_absent(
        {
            "object": "dispute",
            "id": public_id("dp", dispute.id),
            "amount": dispute.amount,
            "charge": public_id("ch", dispute.charge_id),
            "currency": dispute.currency,
            "fee": dispute.fee if dispute.withdrawn else 0,
            "reason": dispute.reason,
            "network_reason_code": dispute.network_code or None,
            "network_reference": dispute.network_ref or None,
            "status": dispute.status,
            "withdrawn": dispute.withdrawn,
            "evidence_due_at": iso(dispute.evidence_due_at) if dispute.evidence_due_at else None,
            "response": _response(dispute) if dispute.responded_at else None,
            "livemode": dispute.livemode,
            "created_at": iso(dispute.created_at),
            "updated_at": iso(dispute.updated_at),
        }
    )


def _response(dispute: Dispute) -> dict[str, Any]:
    return without_absent(
        {
            "type": dispute.response,
            "status": dispute.response_state,
            "message": dispute.response_why or None,
            "requested_at": iso(dispute.responded_at) if dispute.responded_at else None,
        }
    )


def render_evidence(piece: Evidence) -> dict[str, Any]:
    return {
        "object": "evidence",
        "id": public_id("ev", piece.id),
        "dispute": public_id("dp", piece.dispute_id),
        "type": piece.type,
        "content_type": piece.content_type,
        "size": piece.size,
        "livemode": piece.livemode,
        "created_at": iso(piece.created_at),
    }


def render_charge(charge: Charge) -> dict[str, Any]:
    """Return `charge`, read by `Charge.objects.whole()` or `shown()`, as the API shows it."""
    source = charge.source
    shown_source = render_source(source)
    shown_source["require_auth"] = charge.require_auth
    return without_absent(
        {
            "object": "charge",
            "id": public_id("ch", charge.id),
            "amount": charge.amount,
            "amount_captured": charge.amount_captured,
            "amount_refunded": charge.amount_refunded,
            "authorized": charge.authorized,
            "captured": charge.captured,
            "currency": charge.currency,
            "statement_descriptor": charge.statement_descriptor,
            "description": charge.description,
            "source": shown_source,
            "require_auth": charge.require_auth,
            "owner": source.owner,
            "action": charge.action,
            "disputed": charge.disputed,
            "refunds": [render_refund(refund) for refund in charge.refund_list],
            "status": charge.status,
            "livemode": charge.livemode,
            "created_at": iso(charge.created_at),
            "updated_at": iso(charge.updated_at),
            "metadata": charge.metadata or {},
            "failure_data": charge.failure_data,
        }
    )
