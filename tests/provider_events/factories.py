"""Webhooks that are kept already, for pages."""

from payments.models import Merchant, ProviderAccount, ProviderEvent, ProviderMessage


def make_provider_message(merchant: Merchant, body: bytes = b'{"event": "paid"}', **event: object) -> ProviderMessage:
    """One that came for an account of the merchant's, with one event that needs attention unless it says otherwise."""
    account, _ = ProviderAccount.objects.get_or_create(
        merchant=merchant, livemode=True, provider="gone", title="Our account", defaults={"sealed_credentials": b""}
    )
    message = ProviderMessage.objects.create(merchant=merchant, account=account, body=body, digest=body[:32])
    given = {"state": "needs_attention", "why": "Nobody knows it", "due_at": None, "reference": "0" * 32} | event
    ProviderEvent.objects.create(merchant=merchant, message=message, account=account, **given)
    return message
