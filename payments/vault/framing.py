from collections.abc import Iterable


def joined(parts: Iterable[bytes]) -> bytes:
    """`parts` as one string of bytes, each behind its length in 4 bytes, so that no two lists look alike."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
