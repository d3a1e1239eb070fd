"""The guides, in the order of the list of contents."""

# Each group of readers with its guides: names of files in `templates/guides/` and last parts of their URLs.
CONTENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "For a merchant's developers",
        (
            *("checkout", "card-fields", "first-payment", "kept-cards", "command-line", "webhooks"),
            *("errors-and-idempotency", "payouts", "testing", "generated-clients", "assistants", "moving"),
        ),
    ),
    ("For a merchant's staff", ("your-dashboard",)),
    (
        "To run kaha",
        (
            *("deployment", "configuration", "operations", "on-call", "observability", "backups-and-upgrades"),
            *("high-availability", "sharding", "keys-and-vault", "providers"),
        ),
    ),
    (
        "For support and finance",
        ("back-office", "payments-in-the-back-office", "administration", "disputes", "ledger", "reconciliation"),
    ),
    (
        "To trust kaha",
        ("comparison", "guarantees", "check-the-books", "service-guarantees", "performance", "what-makes-it-fast"),
    ),
    ("For everybody", ("architecture", "glossary")),
)
NAMES = frozenset(name for _, names in CONTENTS for name in names)
