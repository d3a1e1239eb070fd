"""Invariants of operators' actions: who approved them, and what they did."""

from functools import partial

from payments.invariants.invariant import Invariant

_of_charge = partial(Invariant, model="payments.Charge", prefix="ch")
_of_action = partial(Invariant, model="payments.OperatorAction", prefix="")
INVARIANTS = (
    _of_charge(
        name="actions_are_decided_by_another",
        sentence="Nobody has decided their own request for an action or for a correction.",
        query="""
            SELECT c.id FROM charge c JOIN payments_operatoraction s ON s.charge_id = c.id
            WHERE s.decided_by_id = s.proposed_by_id
            UNION ALL
            SELECT c.id FROM charge c JOIN payments_attempt a ON a.charge_id = c.id
            JOIN payments_correction r ON r.attempt_id = a.id WHERE r.decided_by_id = r.proposed_by_id
        """,
    ),
    _of_charge(
        name="approval_limits_hold",
        sentence="The money of a charge that went back without an approver is within the operator's approval limit.",
        query="""
            SELECT c.id FROM charge c JOIN payments_operatoraction s ON s.charge_id = c.id
            WHERE s.kind IN ('refund', 'void') AND s.state IN ('approved', 'done') AND s.decided_by_id IS NULL
            GROUP BY c.id HAVING sum(s.amount) > coalesce(max(s."limit"), 0)
        """,
    ),
    _of_action(
        name="done_actions_have_their_attempt",
        sentence="Each action that was done has its own attempt, of the same kind and amount.",
        query="""
            SELECT s.id FROM payments_operatoraction s JOIN charge c ON c.id = s.charge_id
            LEFT JOIN payments_attempt a ON a.id = s.attempt_id AND a.charge_id = s.charge_id AND a.amount = s.amount
            AND a.kind = CASE s.kind WHEN 'release' THEN 'void' ELSE s.kind END
            WHERE s.state = 'done' AND a.id IS NULL
            UNION ALL
            SELECT max(s.id::text)::uuid FROM payments_operatoraction s JOIN charge c ON c.id = s.charge_id
            WHERE s.attempt_id IS NOT NULL GROUP BY s.attempt_id HAVING count(*) > 1
        """,
    ),
    _of_action(
        name="approved_actions_are_executed",
        sentence="No action has been approved for more than 15 minutes without being done or refused.",
        query="""
            SELECT s.id FROM payments_operatoraction s JOIN charge c ON c.id = s.charge_id
            LEFT JOIN payments_attempt a ON a.charge_id = s.charge_id AND a.state IN ('open', 'unknown')
            WHERE s.state = 'approved' AND a.id IS NULL AND s.updated_at < now() - interval '15 minutes'
        """,
    ),
)
