"""Unknown outcomes that operators found out about, one proposing and another approving."""

from payments import clock
from payments.domain.caller import Caller
from payments.models import Correction
from payments.providers.base import Approved
from payments.quickstart.demo.story import Story

EVIDENCE = "The provider's portal shows it as paid, under the reference given; screenshot in the shared folder."
NOTE = "Looked it up in the portal myself."
DOUBT = "The portal has no payment of that reference yet; asked the provider."


def propose(story: Story) -> Correction:
    """One operator proposes that the provider took the money."""
    with story.telling():
        correction = Correction(
            attempt=story.attempt,
            outcome=Correction.Outcome.APPROVED,
            provider_ref=str(story.book.payment),
            evidence=EVIDENCE,
            proposed_by=story.shop.operators[0],
        )
        story.rows.add(correction)
        return correction


def approve(story: Story, correction: Correction) -> None:
    """Another operator approves it, and so it is recorded."""
    with story.telling():
        _decide(story, correction, Correction.State.APPROVED, NOTE)
        story.record(Caller.service(story.charge), Approved(correction.provider_ref, story.charge.capture_at_once))


def reject(story: Story, correction: Correction) -> None:
    """Another operator rejects it, and the outcome stays unknown."""
    with story.telling():
        _decide(story, correction, Correction.State.REJECTED, DOUBT)


def _decide(story: Story, correction: Correction, state: str, note: str) -> None:
    correction.state, correction.note = state, note
    correction.decided_by = story.shop.operators[1]
    correction.decided_at = correction.updated_at = clock.now()
