"""What the service does: its keys, limits, terms, providers and webhooks."""

from config.settings.environment import env

CELL = env.text("CELL", "")
# The short name of the payment link at which the start page lets anybody try a payment; "" for the guide instead.
DEMO_LINK = env.text("DEMO_LINK", "")

# The vault's key-encryption keys: "id:base64 of 32 bytes", separated by commas; the first one wraps, all unwrap.
VAULT_KEYS = env.text("VAULT_KEYS")
# Or one of HashiCorp Vault's transit engine, named so; VAULT_KEYS then only unwrap.
VAULT_TRANSIT_URL = env.text("VAULT_TRANSIT_URL", "").rstrip("/")
VAULT_TRANSIT_TOKEN_FILE = env.text("VAULT_TRANSIT_TOKEN_FILE", "")
VAULT_TRANSIT_KEY = env.text("VAULT_TRANSIT_KEY", "kaha")
TRANSPARENCY_KEYS = env.text("TRANSPARENCY_KEYS", "")
FINGERPRINT_KEY = env.text("FINGERPRINT_KEY", "")

RATE_LIMIT = env.text("RATE_LIMIT", "300/second")
RATE_LIMIT_ANONYMOUS = env.text("RATE_LIMIT_ANONYMOUS", "30/second")
# How many charges of a card, from an address, by a key and at a merchant may be declined in one window.
DECLINE_WINDOW_MINUTES = env.integer("DECLINE_WINDOW_MINUTES", 60, at_least=1)
DECLINE_LIMITS = env.counts("DECLINE_LIMITS", {"card": 10, "address": 100, "key": 150, "merchant": 200})
DECLINE_LIMITS_TEST = env.counts("DECLINE_LIMITS_TEST", {"card": 100, "address": 1000, "key": 1500, "merchant": 2000})
DISPUTE_WARNING = env.counts("DISPUTE_WARNING", {"basis_points": 65, "disputes": 10})
IDEMPOTENCY_KEEP_DAYS = env.integer("IDEMPOTENCY_KEEP_DAYS", 30, at_least=1)
# Events and their webhooks are dropped by whole months, once all of a month is older than this.
EVENTS_KEEP_DAYS = env.integer("EVENTS_KEEP_DAYS", 400, at_least=31)
HOLD_DAYS = 7
# The time zone of the back office, for operators who choose no other.
DISPLAY_TIME_ZONE = env.time_zone("DISPLAY_TIME_ZONE", "UTC")
# How long an operator's request waits for another operator's decision.
APPROVAL_HOURS = env.integer("APPROVAL_HOURS", 48, at_least=1)
ACTION_MINUTES = 60
CVC_KEEP_MINUTES = 60
# How long the number of a card that is neither charged nor kept for a customer is stored.
UNUSED_CARD_KEEP_DAYS = 30
# How far the booking times of the two sides may differ; nothing this close to a report's end counts as missing.
RECONCILIATION_MARGIN_MINUTES = 60
# Live mode takes no cards until the company that runs this attests that it answers for them under PCI DSS (SAQ-D).
LIVE_CARDS_ATTESTED = env.boolean("LIVE_CARDS_ATTESTED", False)
# The name and, by currency, BIC and number of our own bank accounts, which bank files of payouts are to debit.
PAYOUT_DEBTOR_NAME = env.text("PAYOUT_DEBTOR_NAME", "").strip()
PAYOUT_DEBTOR_ACCOUNTS = env.bank_accounts("PAYOUT_DEBTOR_ACCOUNTS")
# The providers' addresses; Adyen's is in the account's settings unless it is set here.
XENDIT_URL = env.text("XENDIT_URL", "https://api.xendit.co").rstrip("/")
ADYEN_URL = env.text("ADYEN_URL", "").rstrip("/")
# Ports that live webhooks may go to, and whether test webhooks may go to this machine.
NOTIFY_PORTS = env.words("NOTIFY_PORTS", ["443"])
NOTIFY_ALLOW_LOOPBACK = env.boolean("NOTIFY_ALLOW_LOOPBACK", False)
# Prefix of the two headers that this interface's client libraries verify.
NOTIFY_HEADER_PREFIX = env.text("NOTIFY_HEADER_PREFIX", "X-Kaha")
# Whether merchants may advance the clock of their test objects.
KAHA_CLOCK = env.boolean("KAHA_CLOCK", False)
# The simulator's latency for each payment and operation.
SIMULATOR_LATENCY_SECONDS = env.integer("SIMULATOR_LATENCY_SECONDS", 0, at_least=0)
SIMULATOR_REFUND_DELAY_SECONDS = env.integer("SIMULATOR_REFUND_DELAY_SECONDS", 2, at_least=0)
