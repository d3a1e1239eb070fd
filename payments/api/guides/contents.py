"""Which guides there are, in the order of the list of contents."""

# For whom, and the names of the files in `templates/guides/`, which are also the last part of their addresses.
CONTENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("For a merchant's developers", ("first-payment", "webhooks", "errors-and-idempotency", "testing")),
    ("To run kaha", ("configuration", "operations", "keys-and-vault", "providers")),
    ("For support and finance", ("back-office", "ledger-and-reconciliation")),
    ("To trust kaha", ("guarantees", "performance")),
    ("For everybody", ("architecture", "glossary")),
)
NAMES = frozenset(name for _, names in CONTENTS for name in names)
