"""Seals what must not lie open (card data, signing secrets), fingerprints what must only be compared.

Nothing else in the house handles keys. The room knows no tables: it takes text and gives bytes.
"""

from payments.vault.errors import VaultError
from payments.vault.fingerprints import card_fingerprint, request_fingerprint
from payments.vault.sealing import seal, unseal

__all__ = ["VaultError", "card_fingerprint", "request_fingerprint", "seal", "unseal"]
