"""The introduction of the OpenAPI document. Its tables are made from the code that they describe."""

from collections.abc import Iterable, Sequence

from payments.domain.catalogue.error_table import REFUSALS, Refusal
from payments.domain.merchants.scopes import RIGHTS
from payments.providers.simulator.scenarios import SCENARIOS, numbers_of
from payments.sourcetypes import SOURCE_TYPES

TEXT = """
kaha takes payments. A **source** wraps a card, wallet or bank account. A **charge** takes money from it or holds it. A
**refund** returns money. A **dispute** is what the payer's bank takes back. A **payout** brings
your money to your bank.

# Keys and modes

A key is sent as the user name of HTTP Basic, with an empty password, or as a Bearer token:

    curl {url}/v2/ping -u sk_test_…:

Secret keys (`sk_…`) may do everything and belong on your server. Publishable keys (`pk_…`) may only make and read
sources, so that a browser can send card numbers past your server. Where a publishable key has a list of origins, a page
of any other gets 403 `origin_not_allowed`. Sources are made at `/api/v2/sources` too, where a live key needs a list.
The key decides the mode: an object made with a `…_test_…` key moves no money and does not exist for a `…_live_…` key.

Restricted keys (`rk_…`) have only the rights that you give them. A program that only refunds then cannot charge, and a
leaked key does little harm. Without the right for a call the answer is 403 `right_missing`: give the key that right.
With `secret_key_required`, make the call from your server instead.

{rights}

A right to write does not include reading. Objects are returned whole: a key that may read charges also sees their
sources and refunds. Any key can be bound to networks; from other networks it is refused like an unknown key.

# Requests

Bodies are one JSON object in UTF-8, at most 64 KiB. Types are strict (`"100"` is no integer), and an undocumented
member is refused, so that a mistyped name does no harm; `null` is the same as leaving an optional member out.
An empty body and one of `[]`, which PHP writes for an empty object, count as `{{}}`. A body must not be compressed. A
body in chunks or by HTTP/2 must state its length: a connection that breaks off before the first byte otherwise looks
like an empty body, and a refund of a part would become a refund of all.
Query parameters are as strict; `expand` in any form (`expand[0]=source`) is accepted and changes nothing, because
nested objects are always whole. An empty `start_after` or `mobile_number` is none.
A card number may stand in `card.number` and nowhere else: in any other text, in metadata, a query, a path or an
idempotency key it is refused with 422 `card_data`, because these are stored and shown as they are. `param` names the
member, such as `metadata.note`. A security code in metadata under a name such as `cvc` is refused too. A card number is
13 to 19 digits of any script, together or in groups, beside letters too, with the prefix, length and check digit of a
card scheme. Bank account numbers (IBAN), UUIDs, hexadecimal IDs and order numbers of a date and a counter pass. If a
number of your own looks like a card number, put a letter between its digits.
Numbers in metadata come back digit for digit: `1.10` stays `1.10`, and `1e2` is not `100`.
Amounts are integers in the currency's smallest unit: 18.89 PHP is `1889`, 1889 JPY is `1889`. Every path answers with
and without its trailing slash. Every answer has a `Request-Id`, which the service's logs know.

# Sending a request again

Every POST takes an `Idempotency-Key` (or `X-Idempotency-Key`) of your choice. The same key with the same request
replays the first answer, byte for byte, marked `Idempotent-Replayed: true`, for {keep_days} days. When a connection
breaks, send the request again with its key: nothing is done twice. A request that was refused before anything was done
(401, 403, 404, 415, 422, 429) does not use its key up. A key that was used for another request is refused with 409
`idempotency_key_reused`, which names that request and its time. Two different keys in one request are refused with 422.

# Limits

The headers `RateLimit` and `RateLimit-Policy` of every answer say how many requests are left, and until when. Beyond
that the answer is 429 `rate_limited`, with `Retry-After`. A secret or restricted key has one limit for all
its requests. A publishable key has a limit for each address that uses it, so that no payer uses up the limit of
another; for IPv6 a /64 network counts as one address. The answer is the same 429 when so many of your charges were
declined that somebody may be testing stolen cards with your keys; it does not say which of the two limits it was.
Nothing was done then, and you may send the same request under the same idempotency key later.

# Lists

Lists are newest first. `limit` is the number of objects at most, and `next`, if more follow, is the path of the next
page with every filter kept. No object is returned twice or missed while new ones arrive. A filter that nothing can ever
match, such as `status=failed` with `captured=true` or another merchant's `customer`, is refused with 422.

# Errors

Every error has the same envelope: `error.type` and `error.code` are for programs, `error.message` is for people, and
`error.request_id` finds the request in the service's logs. With 422, `detail` lists every fault at once.

{errors}

Once money may have moved, the answer is never an error: it is the charge in its current state, `pending` while the
outcome is unknown.

# Ways to pay

{source_types}

# Test cards

With a test key, any future expiry and any security code work.

{test_cards}

Evidence decides a dispute that its card leaves open, a day after it was submitted: a text with `winning_evidence`
wins, everything else loses. An inquiry ends by any evidence. Money that nobody fights for is lost after a week.

Wallets and banks open a page where you decide as the payer. The right one-time PIN is `123456`.
"""
TEST_CARDS = [(", ".join(numbers_of(scenario)), scenario.words) for scenario in dict.fromkeys(SCENARIOS.values())]


def introduction(public_url: str, keep_days: int) -> str:
    """Return the introduction in Markdown, for a service at `public_url` that keeps idempotency keys so many days."""
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
