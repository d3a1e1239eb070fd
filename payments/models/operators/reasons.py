"""What operators write about what they ask and decide."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from payments.sensitive_data.card_numbers import holds_taken_card
from payments.sensitive_data.redaction import without_words

NOTE_MAX_LENGTH = 500
SOMETHING_WRITTEN = r"\S"


def free_of_secrets(text: str) -> None:
    """Raise ValidationError if `text` contains a card number, a CVC or a key."""
    if holds_taken_card(text) or without_words(text) != text:
        message = _(
            "This looks like it holds a card number, a CVC or a key. Take it out; a card's last 4 digits may stay."
        )
        raise ValidationError(message, "secret")
