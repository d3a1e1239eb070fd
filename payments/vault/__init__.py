"""Encryption of card data and secrets, and keyed fingerprints of values that are only compared.

Data keys encrypt values, and a key-encryption key, which is never in the database, encrypts (wraps) data keys. No other
package handles keys. This package knows no tables: it takes text and returns bytes, and `payments.apps` gives it the
store of its data keys (`use_store`).
"""

from payments.vault.base import KeyDestroyed, Purpose, VaultError, VaultUnavailable
from payments.vault.data_keys import SEALING_SECONDS, DataKeyStore, forget_sealing_keys, use_store
from payments.vault.fingerprints import (
    authenticator_key,
    card_fingerprint,
    recovery_code_fingerprint,
    request_fingerprint,
)
from payments.vault.key_wraps import WrappedKey, rewrap
from payments.vault.prefetch import with_prefetched_keys
from payments.vault.sealed_values import Place, header_of, seal, unseal

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
    "recovery_code_fingerprint",
    "request_fingerprint",
    "rewrap",
    "seal",
    "unseal",
    "use_store",
    "with_prefetched_keys",
]
