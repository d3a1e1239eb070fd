"""Seals what must not lie open (card data, signing secrets), fingerprints what must only be compared.

Values are sealed with data keys, data keys are wrapped by a key-encryption key that never lies in the database.
Nothing else in the house handles keys. The room knows no tables: it takes text and gives bytes, and the app fills in
the store of its data keys (`use_store`).
"""

from payments.vault.at_hand import keys_at_hand
from payments.vault.data_keys import SEALING_SECONDS, DataKeyStore, forget_sealing_keys, use_store
from payments.vault.errors import KeyDestroyed, VaultError, VaultUnavailable
from payments.vault.fingerprints import (
    authenticator_key,
    card_fingerprint,
    recovery_code_fingerprint,
    request_fingerprint,
)
from payments.vault.purposes import Purpose
from payments.vault.sealing import Place, header_of, seal, unseal
from payments.vault.wrapping import WrappedKey, rewrap

__all__ = [
    "SEALING_SECONDS",
    "DataKeyStore",
    "KeyDestroyed",
    "Place",
    "Purpose",
    "VaultError",
    "VaultUnavailable",
    "WrappedKey",
    "authenticator_key",
    "card_fingerprint",
    "forget_sealing_keys",
    "header_of",
    "keys_at_hand",
    "recovery_code_fingerprint",
    "request_fingerprint",
    "rewrap",
    "seal",
    "unseal",
    "use_store",
]
