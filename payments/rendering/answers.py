"""What a receiver answered, fit to be read by operators on a page or a terminal."""

from payments.redaction import redact

KEPT = "\n\t"
NOT_PRINTABLE = "·"


def readable(answer: bytes) -> str:
    """The first bytes of an answer as text: without card numbers and keys, and with nothing a terminal would obey."""
    text = redact(answer.decode("utf-8", "replace").replace("\r\n", "\n"))
    return "".join(letter if letter.isprintable() or letter in KEPT else NOT_PRINTABLE for letter in text)
