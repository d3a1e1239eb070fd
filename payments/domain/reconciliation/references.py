"""References in reports: free text of others, in which a card number must not be kept."""

from collections.abc import Collection, Iterable

from payments.models import Attempt, Dispute, Payout
from payments.sensitive_data.card_numbers import holds_card_number
from payments.sensitive_data.plain_text import plain, unescaped


def names_we_have(references: Iterable[str]) -> set[str]:
    """Return those of `references` that look like card numbers, but are providers' names of operations of ours."""
    suspects = {text for text in references if holds_card_number(text)}
    if not suspects:
        return suspects
    found = (
        model.objects.filter(provider_ref__in=suspects).exclude(provider_ref="") for model in (Attempt, Dispute, Payout)
    )
    return {name for rows in found for name in rows.values_list("provider_ref", flat=True)}


def shown(text: str, known: Collection[str] = ()) -> str:
    """Return the text of a report as it is kept: where it holds a card number, only the last four digits."""
    if text in known or not holds_card_number(text):
        return text
    digits = "".join(letter for letter in plain(unescaped(text)) if letter in "0123456789")
    return f"[card …{digits[-4:]}]"
