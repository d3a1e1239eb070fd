"""The document's introduction: what holds for all calls. Its tables are read from the code that they describe."""

from collections.abc import Iterable, Sequence

from payments.api.schema.errors import REFUSALS, Refusal
from payments.domain.merchants.scopes import RIGHTS
from payments.sourcetypes import SOURCE_TYPES

TEXT = """
kaha takes payments: a **source** wraps a card, wallet or bank account, a **charge** takes money from it or holds it,
and a **refund** gives money back.

# Keys and modes

A key is sent as the user name of HTTP Basic, with an empty password, or as a Bearer token:

    curl {url}/v2/ping -u sk_test_…:

Secret keys (`sk_…`) may do everything and belong on your server. Publishable keys (`pk_…`) may only make and read
sources, so that a browser can send card numbers past your server. The key decides the mode: what is made with a
`…_test_…` key moves no money and is not there for a `…_live_…` key.

Restricted keys (`rk_…`) may do what their rights say and nothing else, so that a program which only refunds cannot
charge, and a leaked key opens little. Without the right for a call the answer is 403 `right_missing`, a code of its
own, because the remedy is another right and not, as with `secret_key_required`, another place to call from.

{rights}

To write does not include to read. Objects come whole: whoever may read charges sees their sources and refunds. Any key
can be bound to networks; from elsewhere it answers like a key that never was, so that a thief learns nothing.

# Requests

Bodies are one JSON object in UTF-8, at most 64 KiB. Types are strict (`"100"` is no integer), and a member that is not
documented is refused, so that a mistyped one does no harm; `null` is the same as leaving an optional member out.
An empty body counts as `{{}}`. In chunks or by HTTP/2 its length must be stated, for a connection that breaks off
before the first byte looks the same, and what was meant as a refund of a part must not become one of all.
Query parameters likewise; `expand` is accepted and changes nothing, because nested objects are always whole.
A card number may stand in `card.number` and nowhere else: in any other text, in metadata, a query, a path or an
idempotency key it is refused with 422 `card_data`, because these are stored and shown as they are, and a mistake must
not spread it. `param` names the member, such as `metadata.note`. A security code in metadata under a name such as `cvc`
is refused too. What counts is 13 to 19 digits that begin as a scheme's numbers do, are as many as it issues and end in
the right check digit, of any script, together or in groups, beside letters too. Bank account numbers (IBAN), UUIDs,
hexadecimal IDs and order numbers of a date and a counter pass. Should a number of your own look like a card's, put a
letter between its digits.
Numbers in metadata come back digit for digit: `1.10` stays `1.10`, and `1e2` is not `100`.
Amounts are integers in the currency's smallest unit: 18.89 PHP is `1889`, 1889 JPY is `1889`. Every path answers with
and without its trailing slash. Every answer has a `Request-Id`, which the service's logs know.

# Sending a request again

Every POST takes an `Idempotency-Key` (or `X-Idempotency-Key`) of your choice. The same key with the same request brings
the first answer again, byte for byte, marked `Idempotent-Replayed: true`, for {keep_days} days. So when a connection
breaks, send the request again with its key: nothing is done twice. A request that was refused before anything was done
(401, 403, 404, 415, 422, 429) does not use its key up.

# Limits

Every answer tells how many requests are left, and until when, by `RateLimit` and `RateLimit-Policy`. Beyond that the
answer is 429 `rate_limited`, with `Retry-After`. A secret or restricted key has one rate for all its requests. A
publishable key has a rate for each address that it is used from, so that no payer uses up what is another's; of IPv6
a /64 network counts as one address. The 429 answer is the same when so many of your charges were declined that
somebody may be trying stolen cards with your keys: the answer does not tell a thief which of the two it was. Nothing
was done then, and the same request under the same idempotency key may be sent again later.

# Lists

Lists are newest first. `limit` says how many objects at most, and `next`, if there is more, is the path of the next
page with every filter kept. No object is shown twice or missed while new ones arrive. A filter that nothing can ever
match, such as `status=failed` with `captured=true`, is refused with 422.

# Errors

Every error has the same envelope: `error.type` and `error.code` are for programs, `error.message` is for people, and
`error.request_id` is for whoever looks it up. With 422, `detail` lists every fault at once.

{errors}

Once money may have moved, the answer is never an error: it is the charge as known, `pending` where the outcome is not.

# Ways to pay

{source_types}

# Test cards

With a test key, any future expiry and any security code work.

{test_cards}

Wallets and banks lead to a page where you decide as the payer. The right one-time PIN is `123456`.
"""
TEST_CARDS = (
    ("4242424242424242", "approved, after the 3-D Secure page unless `require_auth` is `false`"),
    ("4012001037141112, 5555555555554444, 3566002020360505", "the same, of other brands"),
    ("4000000000003055", "approved at once"),
    ("4000000000000002", "declined: `card_declined`"),
    ("4000000000009995", "declined: `insufficient_funds`"),
    ("4000000000009987", "declined: `lost_card`"),
    ("4000000000009979", "declined: `stolen_card`"),
    ("4000000000000069", "declined: `expired_card`"),
    ("4000000000000127", "declined: `incorrect_cvc`"),
    ("4000000000000119", "declined: `processing_error`"),
    ("4000000000000341", "can be kept for a customer, but its charges are declined"),
    ("4000000000005126", "approved; its refunds fail afterwards"),
    ("4000000000007726", "approved; its refunds stay pending, then succeed"),
    ("4000000000005100", "pending at first, because the answer is lost; then found approved"),
    ("4000000000005118", "pending at first, because the request is lost; then failed"),
)


def introduction(public_url: str, keep_days: int) -> str:
    """The text in Markdown, for a service at `public_url` that keeps idempotency keys for `keep_days` days."""
    return TEXT.strip().format(
        url=public_url,
        keep_days=keep_days,
        rights=_table(("right", "opens"), ((f"`{right}`", opened) for right, opened in RIGHTS.items())),
        errors=_table(("HTTP, type", "codes", "when"), (_error_row(refusal) for refusal in REFUSALS)),
        source_types=_table(("`type`", "kind", "name"), ((f"`{t.name}`", t.kind, t.label) for t in SOURCE_TYPES)),
        test_cards=_table(("card number", "what happens"), TEST_CARDS),
    )


def _error_row(refusal: Refusal) -> Sequence[str]:
    codes = ", ".join(f"`{code}`" for code in refusal.codes)
    return f"{refusal.status} `{refusal.type}`", codes, refusal.when


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
