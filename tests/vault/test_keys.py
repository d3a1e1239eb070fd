import pytest
from django.core.exceptions import ImproperlyConfigured

from payments.vault.keys import fingerprint_key, key_ring

KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
SHORT_KEY = "MDEyMzQ1Njc4OWFiY2RlZg=="
BAD_KEYS = ["", "not base64 at all", SHORT_KEY, KEY[:-2], "ключ", f"{KEY}{KEY}"]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_malformed_fingerprint_key_is_refused_by_its_name(settings, key: str) -> None:
    settings.FINGERPRINT_KEY = key
    with pytest.raises(ImproperlyConfigured, match=r"^FINGERPRINT_KEY must be"):
        fingerprint_key()


@pytest.mark.parametrize(
    "text",
    [
        "",
        KEY,
        "k1:",
        f":{KEY}",
        f"k 1:{KEY}",
        f"{'k' * 33}:{KEY}",
        f"k1:{KEY},",
        f"k1:{KEY},k1:{KEY}",
        f"k1:{KEY}\nk1:{KEY}",
    ]
    + [f"k1:{key}" for key in BAD_KEYS],
)
def test_malformed_vault_keys_are_refused_by_their_name(settings, text: str) -> None:
    settings.VAULT_KEYS = text
    with pytest.raises(ImproperlyConfigured, match=r"^VAULT_KEYS must be"):
        key_ring()


def test_the_refusal_does_not_show_the_key(settings) -> None:
    settings.VAULT_KEYS = f"k1:{SHORT_KEY}"
    with pytest.raises(ImproperlyConfigured) as failure:
        key_ring()
    assert SHORT_KEY not in str(failure.value)
    assert failure.value.__cause__ is None


def test_a_key_ring_does_not_show_its_keys(settings) -> None:
    settings.VAULT_KEYS = f"k1:{KEY}"
    assert repr(key_ring()) == "KeyRing(wrapping_id='k1')"


def test_keys_are_read_once(settings) -> None:
    settings.VAULT_KEYS = f"k1:{KEY}"
    assert key_ring() is key_ring()


def test_keys_may_stand_on_lines_as_in_a_file(settings) -> None:
    settings.VAULT_KEYS = f"new:{KEY}\r\nold:{KEY}\n"
    assert (key_ring().wrapping_id, list(key_ring().keys)) == ("new", ["new", "old"])
