"""The answers of webhook receivers, safe to show on a page or a terminal."""

from payments.sensitive_data.redaction import redact

KEPT = "\n\t"
NOT_PRINTABLE = "·"


def readable(answer: bytes) -> str:
    """Return an answer as text, without card numbers, keys and control characters."""
    text = redact(answer.decode("utf-8", "replace").replace("\r\n", "\n"))
    return "".join(letter if letter.isprintable() or letter in KEPT else NOT_PRINTABLE for letter in text)
