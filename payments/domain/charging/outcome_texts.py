"""Outcomes as text, to be acted on later."""

import json
from dataclasses import asdict
from typing import get_args

from payments.providers.base import Outcome

KINDS: dict[str, type[Outcome]] = {kind.__name__: kind for kind in get_args(Outcome)}


def written(outcome: Outcome) -> str:
    """Its members as JSON; `read` makes the outcome of its name and of these."""
    return json.dumps(asdict(outcome))


def read(name: str, members: str) -> Outcome:
    """The outcome of this name that was written so."""
    return KINDS[name](**json.loads(members))
