"""A message as it is sent, and how it may not be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

File = tuple[str, bytes, str]


@dataclass(frozen=True, slots=True)
class Letter:
    """A message as it is sent; empty is what it does not have.

    `to` is an e-mail address or a telephone number, "" where none is known. `key` is the same at each try. One of test
    mode is only kept. `kept` are the columns that say what was sent, and `after` does what follows from a message that
    was taken, in the transaction that records it.
    """

    to: str
    text: str
    subject: str = ""
    html: str = ""
    sender: str = ""
    reply_to: str = ""
    files: Sequence[File] = ()
    key: str = ""
    livemode: bool = True
    kept: Mapping[str, Any] = field(default_factory=dict)
    after: Callable[[], object] = lambda: None


# Sends one message. Raises Refused and NotTaken.
Send = Callable[[Letter], None]


class Refused(Exception):
    """The message will never be taken; the text says why, and quotes nothing of the payer's."""


class NotTaken(Exception):
    """The message was not taken this time; `is_of_message`: others may be, so the server is asked for them.

    `is_final`: it will never be, unless nobody's is: a server that refuses everybody refuses us.
    """

    def __init__(self, why: str, is_of_message: bool = False, is_final: bool = False) -> None:
        super().__init__(why)
        self.is_of_message, self.is_final = is_of_message, is_final
