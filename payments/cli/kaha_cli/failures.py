"""Why a command ends early, each with the exit code that scripts rely on.

1 refused, 2 usage, 3 no answer, 4 an answer that could not be shown.
"""

from typing import IO, Any

import click

SHOWN = (("code", "code"), ("param", "param"), ("charge", "charge_id"), ("request", "request_id"), ("see", "doc_url"))


class Misuse(click.ClickException):
    """The command cannot be done as it was given, and nothing was sent."""

    exit_code = 2


class Unshown(click.ClickException):
    """An answer that came and could not be shown. `is_unread` where the program that reads the output has ended."""

    exit_code = 4
    is_unread = False


class Failure(click.ClickException):
    """A request without the answer that was wanted.

    `retry_after` is what the service asked for, in seconds; `may_have_arrived` is set where the request may have been
    done all the same; `advice` is shown after the message.
    """

    retry_after = 0.0
    is_temporary = False
    may_have_arrived = False
    advice = ""

    def format_message(self) -> str:
        """Return the message with the advice."""
        return self.message + self.advice


class Unreachable(Failure):
    """No answer of kaha came."""

    exit_code = 3
    is_temporary = True

    def __init__(self, url: str, reason: str, may_have_arrived: bool = True) -> None:
        super().__init__(f"{url} cannot be reached: {reason}")
        self.may_have_arrived = may_have_arrived


class ApiRefused(Failure):
    """An answer in kaha's error envelope."""

    exit_code = 1
    TEMPORARY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
    TEMPORARY_CODES = frozenset({"idempotency_key_in_use", "resource_busy"})

    def __init__(self, status: int, error: dict[str, Any], retry_after: float) -> None:
        super().__init__(printable(error.get("message", f"The service answered {status}.")))
        self.status, self.error, self.retry_after = status, error, retry_after
        self.is_temporary = status in self.TEMPORARY_STATUSES or error.get("code") in self.TEMPORARY_CODES
        self.may_have_arrived = status == 500

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, every other fault, and where to look further."""
        super().show(file)
        for name, messages in dict(self.error.get("errors", {})).items():
            if name != self.error.get("param"):
                click.echo(f"  {printable(name)}: {printable(' '.join(messages))}", file=file, err=True)
        for label, member in SHOWN:
            if self.error.get(member):
                click.echo(f"  {label:8} {printable(self.error[member])}", file=file, err=True)


def printable(text: Any) -> str:
    """Return `text` with a `?` for each character that a terminal would obey instead of show."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))
