"""Blocks put by an operator."""

from datetime import timedelta
from typing import Any

from payments.domain.risk import blocks
from payments.models import Block
from tests.client import APPROVED
from tests.operators.corrections import operator

WHY = "Stolen, says its bank"


def block_card(number: str = APPROVED, lasts: timedelta | None = None, **where: Any) -> Block:
    """Put a block on a card in test mode, by default at all merchants."""
    return _put(lasts, **blocks.number_columns(number), **where)


def block_email(email: str, lasts: timedelta | None = None, **where: Any) -> Block:
    """Put a block on an e-mail address in test mode, by default at all merchants."""
    return _put(lasts, email=email, **where)


def block_bin(digits: str, **where: Any) -> Block:
    """Put a block on all cards with these first six digits in test mode, by default at all merchants."""
    return _put(None, bin=digits, **where)


def block_address(address: str, **where: Any) -> Block:
    """Put a block on calls from an address in test mode, by default at all merchants."""
    return _put(None, address=address, **where)


def _put(lasts: timedelta | None, **members: Any) -> Block:
    by = members.pop("put_by", None) or operator("ana")
    block = Block(**{"livemode": False, "reason": WHY, "put_by": by} | members)
    blocks.add_block(block, lasts)
    return block
