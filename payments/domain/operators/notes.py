"""What operators write down about what they decided."""

from django.core.exceptions import ValidationError

from payments.models.correction import free_of_secrets


def check(note: str) -> None:
    """Raises ValidationError for a note that says nothing, or that holds a secret."""
    if not note.strip():
        raise ValidationError("Say why.", "required")
    free_of_secrets(note)
