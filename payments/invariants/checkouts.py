"""Invariants of checkouts and payment links: each is paid once or not at all, and nothing is sold twice."""

from functools import partial

from payments.invariants.history import events_of
from payments.invariants.invariant import Invariant
from payments.models.charging.charge import ABANDONED

_of_checkout = partial(Invariant, model="payments.Checkout")
# What each checkout has been charged for, without attempts that failed.
CHARGED = """(
    SELECT checkout_id, count(*) AS count, sum(amount) AS amount, min(currency) AS currency,
        min(status) AS status, bool_and(captured) AS captured
    FROM charge WHERE checkout_id IS NOT NULL AND status <> 'failed' GROUP BY checkout_id
)"""
# How many attempts to pay each checkout were declined: no try that did not reach its provider.
DECLINED = f"""(
    SELECT checkout_id, count(*) AS count FROM charge
    WHERE checkout_id IS NOT NULL AND status = 'failed' AND failure_data ->> 'code' NOT IN {ABANDONED}
        AND (initiator <> 'merchant' OR failure_data ->> 'code' <> 'provider_unavailable')
    GROUP BY checkout_id
)"""  # nosec B608 # made of constants
# No money was ever taken: a session is voided by its hold, a request without any.
NOT_PAID = "(k.state IN ('unpaid', 'expired') OR k.state = 'voided' AND k.kind = 'request' OR k.mode = 'save_card')"

INVARIANTS = (
    _of_checkout(
        name="checkouts_are_paid_once",
        sentence="A checkout that is paid, held, being paid or voided after a hold has one such charge, of its total.",
        query=f"""
            SELECT k.id FROM checkout k LEFT JOIN {CHARGED} c ON c.checkout_id = k.id
            WHERE NOT {NOT_PAID}
            AND ((c.count, c.amount, c.currency) IS DISTINCT FROM (1, k.amount, k.currency) OR NOT CASE k.state
                WHEN 'paid' THEN c.captured
                WHEN 'authorized' THEN c.status = 'succeeded' AND NOT c.captured
                WHEN 'voided' THEN c.status = 'voided'
                ELSE c.status = 'pending' END)
        """,  # nosec B608 # made of constants
    ),
    _of_checkout(
        name="ended_checkouts_are_not_paid",
        sentence="A checkout that is unpaid, has expired, only keeps a card, or is a request that was voided, has no"
        " charge but failed ones, whose late money goes back.",
        query=f"SELECT k.id FROM checkout k JOIN {CHARGED} c ON c.checkout_id = k.id WHERE {NOT_PAID}",  # nosec B608 # made of constants
    ),
    _of_checkout(
        name="checkouts_count_their_attempts",
        sentence="A checkout has a charge for each attempt to pay it, and none where a card is only kept.",
        query="""
            SELECT k.id FROM checkout k
            LEFT JOIN (
                SELECT checkout_id, count(*) AS count FROM charge WHERE checkout_id IS NOT NULL GROUP BY checkout_id
            ) c ON c.checkout_id = k.id
            WHERE coalesce(c.count, 0) <> CASE k.mode WHEN 'save_card' THEN 0 ELSE k.attempts END
        """,
    ),
    _of_checkout(
        name="requests_are_collected_as_they_say",
        sentence="A request has a charge of a kept card for each try that it counts, of which one is pending while it"
        " says so; it collects no more once it is paid or voided.",
        query="""
            SELECT k.id FROM checkout k JOIN payments_paymentrequest r ON r.checkout_id = k.id
            LEFT JOIN (
                SELECT checkout_id, count(*) AS count, count(*) FILTER (WHERE status = 'pending') AS pending
                FROM charge WHERE checkout_id IS NOT NULL AND initiator = 'merchant' GROUP BY checkout_id
            ) c ON c.checkout_id = k.id
            WHERE (coalesce(c.count, 0), coalesce(c.pending, 0)) <> (r.collect_tries, (
                r.source_id IS NOT NULL AND r.collect_at IS NULL AND r.collect_ended = '')::integer)
            OR r.source_id IS NOT NULL AND r.collect_ended = '' AND k.state IN ('paid', 'voided')
        """,
    ),
    _of_checkout(
        name="cards_are_kept_by_paid_sessions",
        sentence="No session keeps the card that it checks unless it is paid.",
        query="""
            SELECT k.id FROM checkout k JOIN source s ON s.id = k.check_source_id WHERE k.state <> 'paid' AND s.vaulted
        """,
    ),
    _of_checkout(
        name="checkouts_say_their_end_once",
        sentence="Each end of a session or request has one event, and so has each declined attempt at a request.",
        # Of an older one, the event may have been dropped with its month.
        query=f"""
            SELECT k.id FROM checkout k
            LEFT JOIN (
                SELECT object_id,
                    count(*) FILTER (WHERE type IN ('checkout_session.completed', 'payment_request.succeeded')) AS paid,
                    count(*) FILTER (WHERE type = 'checkout_session.expired') AS expired,
                    count(*) FILTER (WHERE type = 'payment_request.failed') AS failed
                FROM event WHERE type IN ('checkout_session.completed', 'checkout_session.expired',
                    'payment_request.succeeded', 'payment_request.failed') GROUP BY object_id
            ) e ON e.object_id = k.id
            LEFT JOIN {DECLINED} d ON d.checkout_id = k.id
            WHERE k.id >= (SELECT id FROM kept) AND k.kind <> 'link'
            AND (coalesce(e.paid, 0), coalesce(e.expired, 0), coalesce(e.failed, 0)) <> (
                (k.state IN ('paid', 'authorized') OR k.state = 'voided' AND k.kind = 'session')::integer,
                (k.state = 'expired')::integer,
                CASE k.kind WHEN 'request' THEN coalesce(d.count, 0) ELSE 0 END
            )
        """,  # nosec B608 # made of constants
    ),
    _of_checkout(
        name="declines_are_mailed_once",
        sentence="A payer got no more messages that an attempt was declined than there were such attempts.",
        query=f"""
            SELECT k.id FROM checkout k
            JOIN (
                SELECT about_id, count(*) AS count FROM payments_payermessage
                WHERE kind = 'payment_failed' GROUP BY about_id
            ) mailed ON mailed.about_id = k.id
            LEFT JOIN {DECLINED} d ON d.checkout_id = k.id
            WHERE mailed.count > coalesce(d.count, 0)
        """,  # nosec B608 # made of constants
    ),
    Invariant(
        name="charges_match_their_checkout",
        sentence="Each charge of a checkout has its merchant and mode.",
        model="payments.Charge",
        query="""
            SELECT c.id FROM charge c LEFT JOIN checkout k ON k.id = c.checkout_id
            WHERE c.checkout_id IS NOT NULL
            AND (k.merchant_id, k.livemode) IS DISTINCT FROM (c.merchant_id, c.livemode)
        """,
    ),
    Invariant(
        name="link_stock_is_what_was_bought",
        sentence="What is gone of each link's stock is what its payments paid and under way have bought.",
        model="payments.PaymentLink",
        query="""
            SELECT l.id FROM payment_link l
            CROSS JOIN LATERAL unnest(l.stock, l.remaining) WITH ORDINALITY AS item (stock, remaining, place)
            LEFT JOIN (
                SELECT link_id, edition, place, sum(count) AS count
                FROM checkout, unnest(quantities) WITH ORDINALITY AS bought (count, place)
                WHERE link_id IS NOT NULL AND state <> 'expired' GROUP BY link_id, edition, place
            ) gone ON gone.link_id = l.id AND gone.edition = l.edition AND gone.place = item.place
            WHERE item.stock - item.remaining <> coalesce(gone.count, 0)
        """,
    ),
    Invariant(
        name="link_payments_are_counted",
        sentence="Each link counts its payments, paid and under way, which are of its merchant and mode.",
        model="payments.PaymentLink",
        query="""
            SELECT l.id FROM payment_link l
            LEFT JOIN (SELECT link_id, merchant_id, livemode, count(*) AS count FROM checkout
                WHERE link_id IS NOT NULL AND state <> 'expired' GROUP BY link_id, merchant_id, livemode
            ) k ON k.link_id = l.id
            WHERE l.payments <> coalesce(k.count, 0)
            OR (k.merchant_id, k.livemode) IS DISTINCT FROM (l.merchant_id, l.livemode) AND k.count IS NOT NULL
        """,
    ),
    # What changes at a link's payment shows in the events of its link and its charge.
    events_of("checkout", model="payments.Checkout", condition="o.kind <> 'link'"),
    events_of("payment_link", model="payments.PaymentLink"),
)
