"""Bodies that are longer than any other: what a page takes, and how many a process reads at once."""

from dataclasses import dataclass

# The attribute of a view that takes such a form.
LONG_FORM = "long_form"


@dataclass(frozen=True)
class BodyLimits:
    """The longest body, and the longest time that it may take."""

    length_bytes: int
    deadline_seconds: int


@dataclass(frozen=True)
class Uploads:
    """Long bodies of one kind: a process reads `most` at once, one by each sender, for each is in memory."""

    limits: BodyLimits
    most: int


@dataclass(frozen=True)
class LongForm:
    """What a page with a form for a file takes, and the permission of those who may send it.

    Each site for people reads the same number at once: neither waits for the other.
    """

    uploads: Uploads
    permission: str
    site_prefix: str
