"""Outcomes that nobody knows, and the operators who find them out."""

from typing import Any

from django.contrib.auth.models import User

from payments.domain.operators import corrections
from payments.models import Attempt, Correction
from tests.charging.doubles import LosesAnswers, provider
from tests.client import ANSWER_LOST, Api

EVIDENCE = "Report of 21 Nov, line 7"
NOTE = "Seen in their back office"
PROOF = {"approved": {"provider_ref": "psp_77"}, "declined": {"decline_code": "insufficient_funds"}}


def operator(name: str) -> User:
    """A superuser, whom no rule may let through for that."""
    return User.objects.get_or_create(username=name, is_staff=True, is_superuser=True)[0]


def unknown_payment(api: Api, **members: Any) -> Attempt:
    """A payment which the provider took, and nobody knows."""
    api.charge(ANSWER_LOST, **members)
    return Attempt.objects.latest("id")


def unknown_operation(api: Api, verb: str) -> Attempt:
    """A capture, void or refund which the provider did, and nobody knows."""
    charge = api.charge() if verb == "refund" else api.held()
    with provider(LosesAnswers()):
        api.post(f"/charges/{charge['id']}/{verb}")
    return Attempt.objects.latest("id")


def new_proposal(attempt: Attempt, outcome: str = "approved", **members: Any) -> Correction:
    """A proposal of Ana's that is not put up yet."""
    given = PROOF.get(outcome, {}) | {"evidence": EVIDENCE, "proposed_by": operator("ana")} | members
    return Correction(attempt=attempt, outcome=outcome, **given)


def proposed(attempt: Attempt, outcome: str = "approved", **members: Any) -> Correction:
    """A proposal of Ana's that is open."""
    correction = new_proposal(attempt, outcome, **members)
    corrections.propose(correction)
    return correction


def corrected(attempt: Attempt, outcome: str, **members: Any) -> Correction:
    """What Ana proposed and Ben approved."""
    return corrections.approve(proposed(attempt, outcome, **members), operator("ben"), NOTE)
