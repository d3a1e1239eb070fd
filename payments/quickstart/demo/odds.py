"""How often each plot happens in a year, and what is under way at its end."""

from collections.abc import Sequence

from payments.quickstart.demo.plots import (
    Plot,
    abandoned,
    awaiting,
    came_late,
    captured_later,
    corrected,
    correction_proposed,
    correction_rejected,
    declined,
    found_approved,
    hold_expired,
    hold_voided,
    kept,
    kept_for_a_while,
    never_arrived,
    paid,
    part_captured,
    part_refunded,
    refund_pending,
    refund_returned,
    refunded,
    refunded_later,
    refused,
    unknown,
    voided,
)
from payments.quickstart.demo.staff_plots import (
    blocked,
    extended_by_staff,
    refund_asked_for,
    refund_of_staff_approved,
    refund_of_staff_declined,
    refunded_by_staff,
    released_by_staff,
)

PLOTS: Sequence[tuple[Plot, float]] = (
    *(
        (paid, 62),
        (kept, 6),
        (declined, 7),
        (refused, 4),
        (abandoned, 3),
        (captured_later, 5),
        (part_captured, 2),
    ),
    *(
        (hold_voided, 1.5),
        (hold_expired, 1.5),
        (voided, 1.5),
        (refunded, 3),
        (part_refunded, 1.5),
    ),
    *(
        (refund_returned, 0.3),
        (refunded_later, 0.7),
        (found_approved, 0.6),
        (corrected, 0.1),
        (never_arrived, 0.4),
    ),
    *(
        (kept_for_a_while, 0.5),
        (correction_rejected, 0.1),
        (came_late, 0.1),
        (refunded_by_staff, 0.6),
    ),
    *(
        (refund_of_staff_approved, 0.2),
        (refund_of_staff_declined, 0.1),
        (released_by_staff, 0.2),
    ),
    *((extended_by_staff, 0.3), (blocked, 0.1)),
)
# What is under way now, with the minutes that it began ago, at least and at most.
UNDER_WAY: Sequence[tuple[Plot, float, float]] = (
    *((awaiting, 1, 50), (awaiting, 1, 50), (awaiting, 1, 50)),
    *((unknown, 1, 5), (unknown, 20, 90), (correction_proposed, 300, 900)),
    *(
        (refund_pending, 60, 600),
        (refund_pending, 600, 2000),
        (hold_expired, 7300, 10000),
        (hold_expired, 9000, 10070),
    ),
    *((refund_asked_for, 40, 300), (refund_asked_for, 60, 600)),
)
