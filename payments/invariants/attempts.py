"""Invariants of attempts and operators' actions: who approved them, what they did, and that they will end."""

from functools import partial

from payments.invariants.invariant import Invariant
from payments.models.charging.attempt import SECOND_LOOKS

_of_charge = partial(Invariant, model="payments.Charge")
_of_attempt = partial(Invariant, model="payments.Attempt", prefix="")
_of_action = partial(Invariant, model="payments.OperatorAction", prefix="")
INVARIANTS = (
    _of_attempt(
        name="attempts_match_their_charge",
        sentence="Each attempt has its charge's merchant.",
        query="""
            SELECT a.id FROM payments_attempt a JOIN charge c ON c.id = a.charge_id WHERE a.merchant_id <> c.merchant_id
        """,
    ),
    _of_attempt(
        name="attempts_are_looked_up",
        sentence="No attempt has waited for its lookup for more than 15 minutes since it was due.",
        # The deadline of a new attempt may be in the past where a merchant moves the test clock.
        query="""
            SELECT a.id FROM payments_attempt a JOIN charge c ON c.id = a.charge_id
            WHERE (a.state <> 'done' OR a.due_at IS NOT NULL)
            AND coalesce(greatest(a.due_at, a.updated_at), '-infinity') < now() - interval '15 minutes'
        """,
    ),
    _of_attempt(
        name="given_up_attempts_are_looked_up_again",
        sentence=f"Each attempt that the provider did not find is looked up {SECOND_LOOKS} times more, or will be.",
        query=f"""
            SELECT a.id FROM payments_attempt a JOIN charge c ON c.id = a.charge_id
            WHERE a.state = 'done' AND a.outcome = 'NotFound' AND a.due_at IS NULL AND a.tries < {SECOND_LOOKS}
        """,  # nosec B608 # made of constants
    ),
    _of_charge(
        name="operations_have_their_attempt",
        sentence="A charge has an operation under way exactly while an attempt at it has no outcome.",
        # A refund that is pending at the provider does not block the charge's next operation.
        query="""
            SELECT c.id FROM charge c
            LEFT JOIN payments_attempt a ON a.charge_id = c.id AND (
                a.kind IN ('capture', 'void', 'extend') AND a.state <> 'done'
                OR a.kind = 'refund' AND a.state IN ('open', 'unknown')
            )
            WHERE c.operation <> coalesce(a.kind, '')
        """,
    ),
    _of_charge(
        name="charges_have_their_authorization",
        sentence="A charge is pending exactly while the attempt that asked for its money has no outcome.",
        query="""
            SELECT c.id FROM charge c
            LEFT JOIN payments_attempt a ON a.charge_id = c.id AND a.kind = 'authorize' AND NOT a.passed_on
            WHERE a.id IS NULL OR (c.status = 'pending') = (a.state = 'done')
        """,
    ),
    Invariant(
        name="refunds_have_their_attempt",
        sentence="A refund is pending exactly while the attempt at it has no outcome.",
        model="payments.Refund",
        query="""
            SELECT r.id FROM refund r LEFT JOIN payments_attempt a ON a.refund_id = r.id
            WHERE a.id IS NULL OR (r.status = 'pending') = (a.state = 'done')
        """,
    ),
    Invariant(
        name="idempotency_keys_are_answered",
        sentence="Each idempotency key has its stored answer, or an attempt that will store one.",
        model="payments.IdempotencyRecord",
        prefix="",
        query="""
            SELECT i.id FROM idempotency_record i
            LEFT JOIN payments_attempt a ON a.idempotency_id = i.id AND a.state <> 'done'
            WHERE i.status IS NULL AND a.idempotency_id IS NULL
        """,
    ),
    _of_charge(
        name="holds_are_extended_as_approved",
        sentence="Each hold was extended by as many days as the provider has approved.",
        query="""
            SELECT c.id FROM charge c LEFT JOIN (
                SELECT charge_id, sum(hold_days) AS days FROM payments_attempt
                WHERE kind = 'extend' AND outcome IN ('Approved', 'LateApproved') GROUP BY charge_id
            ) a ON a.charge_id = c.id
            WHERE c.hold_extended_days <> coalesce(a.days, 0)
        """,
    ),
    _of_charge(
        name="blocked_payments_are_declined",
        sentence="No charge that a block declines is paid, and the simulator was never asked for its money.",
        query="""
            SELECT c.id FROM payments_attempt a JOIN charge c ON c.id = a.charge_id
            LEFT JOIN simulator_simulatedpayment p ON p.reference = encode(uuid_send(a.id), 'hex')
            WHERE a.block_id IS NOT NULL AND (c.status NOT IN ('pending', 'failed') OR p.id IS NOT NULL)
        """,
    ),
    _of_charge(
        name="actions_are_decided_by_another",
        sentence="Nobody has decided their own request for an action or for a correction.",
        query="""
            SELECT c.id FROM charge c JOIN payments_approvalrequest s ON s.charge_id = c.id
            WHERE s.decided_by_id = s.proposed_by_id
        """,
    ),
    _of_charge(
        name="approval_limits_hold",
        sentence="The money of a charge that went back without an approver is within the operator's approval limit.",
        query="""
            SELECT c.id FROM charge c JOIN payments_approvalrequest s ON s.charge_id = c.id
            WHERE s.kind IN ('refund', 'void') AND s.state IN ('approved', 'done') AND s.decided_by_id IS NULL
            GROUP BY c.id HAVING sum(s.amount) > coalesce(max(s."limit"), 0)
        """,
    ),
    _of_action(
        name="done_actions_have_their_attempt",
        sentence="Each action that was done has its own attempt, of the same kind and amount.",
        query="""
            SELECT s.id FROM payments_approvalrequest s JOIN charge c ON c.id = s.charge_id
            LEFT JOIN payments_attempt a ON a.id = s.attempt_id AND a.charge_id = s.charge_id AND a.amount = s.amount
            AND a.kind = CASE s.kind WHEN 'release' THEN 'void' ELSE s.kind END
            WHERE s.state = 'done' AND s.kind NOT IN ('correction', 'assistant_call') AND a.id IS NULL
            UNION ALL
            SELECT max(s.id::text)::uuid FROM payments_approvalrequest s JOIN charge c ON c.id = s.charge_id
            WHERE s.attempt_id IS NOT NULL AND s.kind <> 'correction' GROUP BY s.attempt_id HAVING count(*) > 1
        """,
    ),
    _of_action(
        name="approved_actions_are_executed",
        sentence="No action has been approved for more than 15 minutes without being done or refused.",
        query="""
            SELECT s.id FROM payments_approvalrequest s JOIN charge c ON c.id = s.charge_id
            LEFT JOIN payments_attempt a ON a.charge_id = s.charge_id AND a.state IN ('open', 'unknown')
            WHERE s.state = 'approved' AND a.id IS NULL AND s.updated_at < now() - interval '15 minutes'
        """,
    ),
)
