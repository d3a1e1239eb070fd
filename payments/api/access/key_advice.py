"""What is wrong with a text that is no key of kaha. No message repeats the text."""

import re
from dataclasses import dataclass

from payments.domain.merchants.api_keys import FULL_KEY

LENGTH = len("sk_test_") + 48
EMPTY = (
    "The key that was sent is empty. Is your variable set? Send the key as the user name of HTTP Basic, with an empty "
    "password (curl -u $KAHA_KEY:), or as a Bearer token."
)
PASSWORD = "The key was sent as the password. Send it as the user name, with an empty password: curl -u KEY:"  # nosec
SCHEME = "The scheme before the key must be Basic or Bearer: send Authorization: Bearer KEY, or use curl -u KEY:."
NOT_ENCODED = (
    "HTTP Basic takes the base64 of KEY: (with the colon), which curl -u KEY: makes. Or send the key as it is, as a "
    "Bearer token."
)
UNKNOWN = "This API key is not valid."
OURS = f"One of kaha begins with sk_test_ or sk_live_ and has {LENGTH} characters or more."

_BEGINNING = re.compile(r"[spra]k_(?:test|live)_")


@dataclass(frozen=True)
class KeyShape:
    """A form that a text has as a whole, and what to do about it."""

    form: re.Pattern[str]
    advice: str


# What is recognised by its form, in this order; the first that fits says what to do.
_FORMS = tuple(
    KeyShape(re.compile(pattern, re.DOTALL), message)
    for pattern, message in (
        (
            rf"\s+{FULL_KEY.pattern}\s*|\s*{FULL_KEY.pattern}\s+",
            "There is a blank or a line break before or after the key. Take it away.",
        ),
        (rf"[\"'`]+{FULL_KEY.pattern}[\"'`]*", "There are quotation marks around the key. Take them away."),
        (
            r".*(?:…|\*\*|\.\.\.).*",
            "This is a masked key or a sample: its middle is left out. Copy the whole key, which is shown once.",
        ),
        (r"[$<{%].*|[A-Z_]{1,40}", "This is the name of a variable or a placeholder, not a key. Is your variable set?"),
        (r"whsec_.*", f"This is a signing secret of webhooks. Requests need an API key. {OURS}"),
        (r"[spr]k_(?:test|live)_51.{60,}", f"This is a key of Stripe. {OURS}"),
        (r"rzp_.*", f"This is a key of Razorpay. {OURS}"),
        (r"xnd_.*", f"This is a key of Xendit. {OURS}"),
        (r"AQE.{60,}", f"This is a key of Adyen. {OURS}"),
    )
)


def advice_on(text: str) -> str:
    """Return what is wrong with `text` as a key, and what to do instead."""
    for each in _FORMS:
        if each.form.fullmatch(text):
            return each.advice
    if not _BEGINNING.match(text):
        return f"This is not a key of kaha. {OURS}"
    if len(text) < LENGTH:
        return f"This key has {len(text)} characters: it was cut short, or it is of another service. {OURS}"
    return f"This key has more or other characters than ours: was it copied with more than itself? {OURS}"
