"""The notes that operators write about their decisions."""

from django.core.exceptions import ValidationError

from payments.models.operators.correction import free_of_secrets


def check(note: str) -> None:
    """Raise ValidationError for an empty note, or for one that holds a secret."""
    if not note.strip():
        raise ValidationError("Say why.", "required")
    free_of_secrets(note)
