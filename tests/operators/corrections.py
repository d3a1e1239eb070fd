"""Unknown outcomes, and corrections of them by operators."""

from typing import Any

from django.contrib.auth.models import User

from payments.domain.approvals import decide
from payments.domain.approvals.request import submit
from payments.models import Attempt, Correction
from tests.charging.doubles import LosesAnswers, provider
from tests.client import ANSWER_LOST, Api

EVIDENCE = "Report of 21 Nov, line 7"
NOTE = "Seen in their back office"
PROOF = {"approved": {"reference": "psp_77"}, "declined": {"code": "insufficient_funds"}}


def operator(name: str) -> User:
    """Return a superuser, who has no exemption from the rules."""
    return User.objects.get_or_create(username=name, is_staff=True, is_superuser=True)[0]


def unknown_payment(api: Api, **members: Any) -> Attempt:
    """Return the attempt of a payment that the provider took and whose outcome is unknown."""
    api.charge(ANSWER_LOST, **members)
    return Attempt.objects.latest("id")


def unknown_operation(api: Api, verb: str) -> Attempt:
    """Return the attempt of an operation that the provider did and whose outcome is unknown."""
    charge = api.charge() if verb == "refund" else api.held()
    with provider(LosesAnswers()):
        api.post(f"/charges/{charge['id']}/{verb}")
    return Attempt.objects.latest("id")


def new_proposal(attempt: Attempt, outcome: str = "approved", **members: Any) -> Correction:
    """Return a proposal of Ana's that is not saved yet."""
    after = {"outcome": outcome, "code": "", "reference": ""} | PROOF.get(outcome, {})
    after |= {name: members.pop(name) for name in [*after] if name in members}
    given = {"reason": EVIDENCE, "proposed_by": operator("ana")} | members
    return Correction(kind="correction", attempt=attempt, after=after, **given)


def proposed(attempt: Attempt, outcome: str = "approved", **members: Any) -> Correction:
    """Return an open proposal of Ana's."""
    correction = new_proposal(attempt, outcome, **members)
    submit(correction)
    return correction


def corrected(attempt: Attempt, outcome: str, **members: Any) -> Correction:
    """Return a correction that Ana proposed and Ben approved."""
    correction = proposed(attempt, outcome, **members)
    decide.approve(correction, operator("ben"), NOTE)
    return correction
