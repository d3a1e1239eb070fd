"""Outcomes as text, to be acted on later."""

import json
from dataclasses import asdict
from typing import get_args

from payments.providers.base import Outcome

KINDS: dict[str, type[Outcome]] = {kind.__name__: kind for kind in get_args(Outcome)}


def written(outcome: Outcome) -> str:
    """Return the members of an outcome as JSON, for `read`."""
    return json.dumps(asdict(outcome))


def read(name: str, members: str) -> Outcome:
    """Return the outcome of this name from the text that `written` made."""
    return KINDS[name](**json.loads(members))
