"""What one person may approve of another's: the refusal of more, and the check of what they write."""

from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from payments import clock
from payments.domain.catalogue.refusal_texts import said
from payments.models import MerchantAccess
from payments.models.operators.reasons import free_of_secrets


class Refused(Exception):
    """A decision that this operator may not make, or that comes too late; nothing was changed."""


# So long others have to see that somebody has new rights, before these approve anything of another's.
NEW_FOR = timedelta(hours=24)


def refuse_new(approver: User, merchant_id: UUID | None = None) -> None:
    """Raise Refused where the rights of `approver`, an operator or a merchant's person, have just grown.

    Without a merchant it is about several merchants' money, as a bank file.
    """
    people = User.objects.filter(pk=approver.pk)
    joined, grown = people.values_list("date_joined", "operator_profile__rights_since").get()
    here = MerchantAccess.objects.filter(user=approver, merchant=merchant_id).values_list("rights_since", flat=True)
    if max([grown or joined, *here]) > clock.now() - NEW_FOR:
        hours = NEW_FOR // timedelta(hours=1)
        raise Refused(said("Your rights are new: for {hours} hours another person approves this.", hours=hours))


def check_note(note: str) -> None:
    """Raise ValidationError for an empty note, or for one that holds a secret."""
    if not note.strip():
        raise ValidationError("Say why.", "required")
    free_of_secrets(note)
