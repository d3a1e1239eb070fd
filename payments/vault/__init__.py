"""Encryption of card data and secrets, and keyed fingerprints of values that are only compared.

Data keys encrypt values, and a key-encryption key, which is never in the database, encrypts (wraps) data keys. No other
package handles keys. This package knows no tables: it takes text and returns bytes, and `payments.apps` gives it the
store of its data keys (`use_store`).
"""

from payments.vault.base import KeyDestroyed as KeyDestroyed
from payments.vault.base import Purpose as Purpose
from payments.vault.base import VaultError as VaultError
from payments.vault.base import VaultUnavailable as VaultUnavailable
from payments.vault.data_keys import SEALING_SECONDS as SEALING_SECONDS
from payments.vault.data_keys import DataKeyStore as DataKeyStore
from payments.vault.data_keys import forget_sealing_keys as forget_sealing_keys
from payments.vault.data_keys import use_store as use_store
from payments.vault.data_keys import with_prefetched_keys as with_prefetched_keys
from payments.vault.fingerprints import card_fingerprint as card_fingerprint
from payments.vault.fingerprints import factor_cipher as factor_cipher
from payments.vault.fingerprints import import_fingerprint as import_fingerprint
from payments.vault.fingerprints import request_fingerprint as request_fingerprint
from payments.vault.key_wraps import WrappedKey as WrappedKey
from payments.vault.key_wraps import opens as opens
from payments.vault.key_wraps import rewrap as rewrap
from payments.vault.sealed_values import Place as Place
from payments.vault.sealed_values import header_of as header_of
from payments.vault.sealed_values import seal as seal
from payments.vault.sealed_values import unseal as unseal
