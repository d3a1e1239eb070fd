"""Questions to a provider and its answers as JSON, for a simulator that is reached over a network."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any, get_args

from payments.providers.base import (
    BankAccount,
    CardData,
    CardFacts,
    OnFile,
    Operation,
    Outcome,
    Payer,
    Payment,
    PayoutOutcome,
)
from payments.providers.disputes import DisputeResponse, Evidence, Response
from payments.providers.payouts import PayoutOrder

Asked = Payment | Operation | DisputeResponse | PayoutOrder
KINDS = {*get_args(Asked), *get_args(Outcome), *get_args(PayoutOutcome)}
TYPES: dict[str, Any] = {kind.__name__: kind for kind in KINDS}


def to_wire(value: Asked | Outcome | PayoutOutcome) -> bytes:
    return json.dumps({"type": type(value).__name__, **asdict(value)}, default=_as_text).encode()


def _as_text(value: datetime | OnFile) -> str:
    return value.name if isinstance(value, OnFile) else value.isoformat()


def from_wire(data: bytes) -> Any:
    """Return the payment, operation, response or outcome that was written. Raise ValueError for anything else."""
    members = json.loads(data)
    if members.get("card"):
        of_payer = CardData if members["type"] == Payment.__name__ else CardFacts
        members["card"] = of_payer(**members["card"])
    if members.get("bank_account"):
        members["bank_account"] = BankAccount(**members["bank_account"])
    if "payer" in members:
        members["payer"] = Payer(**members["payer"])
    if "on_file" in members:
        members["on_file"] = OnFile[members["on_file"]]
    if members.get("asked_at"):
        members["asked_at"] = datetime.fromisoformat(members["asked_at"])
    if "evidence" in members:
        members["response"] = Response(members["response"])
        members["evidence"] = tuple(Evidence(**piece) for piece in members["evidence"])
    try:
        return TYPES[members.pop("type")](**members)
    except (KeyError, TypeError) as error:
        raise ValueError(data) from error
