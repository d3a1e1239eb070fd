"""What one person may do alone and approve of another's: the refusal of more, limits, the check of what they write."""

from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Max

from payments import clock
from payments.domain.catalogue.said import said
from payments.models import AMOUNT_MAX, ApprovalLimit, MerchantAccess
from payments.models.merchants.merchant_access import membership_of
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


def limit_of(operator: User, currency: str) -> int | None:
    """Return how much `operator` may give back alone: the highest limit of their roles; a superuser has all roles.

    None means that there is no limit for the currency, so a second operator must approve everything. For a merchant's
    own people it is the merchant's limit; without one they give back a whole charge.
    """
    limits = ApprovalLimit.objects.filter(currency=currency)
    if membership := membership_of(operator):
        own = limits.filter(merchant=membership.merchant_id).values_list("amount", flat=True).first()
        return AMOUNT_MAX if own is None else own
    limits = limits.filter(merchant=None)
    if not operator.is_superuser:
        limits = limits.filter(role__user=operator)
    most: int | None = limits.aggregate(most=Max("amount"))["most"]
    return most
