"""How each column that may hold a text keeps card numbers out. A column that is not named here refuses them."""

from collections.abc import Mapping
from enum import Enum


class Rule(Enum):
    """How a column keeps card numbers out."""

    # A write with one is refused. Operators, merchants and commands write it, and can be asked to take it out.
    REFUSED = "refused"
    # A card number is replaced in the write: what others sent, whom nobody can ask.
    HIDDEN = "hidden"
    # The API's fields have refused it already; statements of every request do not look again.
    REQUEST = "request"
    # A provider's own name of an operation. It is asked by that name again, so it stays as it is.
    PROVIDER = "provider"
    # Encrypted by the vault.
    SEALED = "sealed"
    # Made of our own words, numbers, IDs and digests, or of columns that are looked at where they are written.
    OURS = "ours"


HIDDEN, REQUEST, PROVIDER, SEALED, OURS = Rule.HIDDEN, Rule.REQUEST, Rule.PROVIDER, Rule.SEALED, Rule.OURS

# Columns of a CharField are of one line, but those that people write in text areas.
OF_LINES = frozenset(("reason", "note", "text", "lifted_because"))
_ATTEMPTED = {
    OURS: "kind provider chosen state outcome response request_id",
    REQUEST: "idempotency_key",
    PROVIDER: "provider_ref qr",
}
DECLARED: Mapping[str, Mapping[Rule, str]] = {
    "admin.LogEntry": {HIDDEN: "object_repr change_message"},
    "auth.User": {OURS: "password"},
    "account.EmailConfirmation": {OURS: "key"},
    "customers.Customer": {REQUEST: "email mobile_number description metadata"},
    # Sealed secrets, and the public keys of passkeys.
    "mfa.Authenticator": {OURS: "type data"},
    "payments.AccountDay": {OURS: "account kind"},
    "payments.ApiKey": {OURS: "digest public_text rights"},
    "payments.ApiRequest": {OURS: "path asked answered"},
    "payments.ApprovalRequest": {SEALED: "sealed_credentials"},
    "payments.Attempt": _ATTEMPTED,
    "payments.AuditEntry": {OURS: "action detail reason object_name fields previous_hash hash"},
    "payments.AuditHead": {OURS: "hash"},
    "payments.Block": {OURS: "fingerprint card"},
    # Pixels, made anew: of what was sent, no text is left.
    "payments.BrandPicture": {OURS: "content"},
    "payments.Card": {
        REQUEST: "name address",
        OURS: "fingerprint issuing_bank",
        SEALED: "sealed_number sealed_cvc",
        PROVIDER: "network_reference",
    },
    "payments.Charge": {
        REQUEST: "statement_descriptor description redirect_url metadata",
        OURS: "action failure_data",
    },
    "payments.Checkout": {REQUEST: "order payer client_reference_id", PROVIDER: "check_url", OURS: "check_code"},
    "payments.BankLine": {HIDDEN: "text"},
    "payments.BankStatement": {HIDDEN: "name"},
    "payments.CvcKey": {OURS: "kek", SEALED: "wrapped"},
    "payments.DataKey": {OURS: "kek", SEALED: "wrapped"},
    "payments.DayTotal": {OURS: "source_type provider reason"},
    "payments.DeclineAlert": {OURS: "subject"},
    "payments.Dispute": {
        PROVIDER: "provider_ref network_ref",
        HIDDEN: "network_code response_why",
        OURS: "reason status",
    },
    "payments.Event": {OURS: "type payload"},
    "payments.Evidence": {OURS: "type content_type", HIDDEN: "name", SEALED: "sealed_content"},
    "payments.FileSchedule": {OURS: "interval stopped"},
    "payments.IdempotencyRecord": {REQUEST: "key", OURS: "fingerprint body"},
    "payments.LogHead": {OURS: "note"},
    "payments.LogLeaf": {OURS: "salt"},
    "payments.LogNode": {OURS: "hash"},
    "payments.MoneyCheck": {OURS: "invariants failures"},
    "payments.Notification": {OURS: "why", HIDDEN: "key text"},
    "payments.PageVisit": {OURS: "address browser"},
    "payments.PayerMessage": {OURS: "kind why", REQUEST: "recipient", HIDDEN: "subject text"},
    "payments.PaymentRequest": {REQUEST: "void_reason", OURS: "series collect_ended"},
    "payments.PaymentLink": {REQUEST: "internal_name order", OURS: "short"},
    "payments.Payout": {PROVIDER: "provider_ref", HIDDEN: "failure_code why"},
    "payments.PayoutAccount": {SEALED: "sealed_number"},
    "payments.PayoutFile": {SEALED: "sealed_debtor_number"},
    "payments.Posting": {OURS: "account kind"},
    "payments.ProviderAccount": {SEALED: "sealed_credentials"},
    "payments.ProviderEvent": {
        PROVIDER: "key reference provider_ref payment",
        OURS: "outcome outcome_json state",
        HIDDEN: "why",
    },
    "payments.ProviderMessage": {HIDDEN: "body", OURS: "digest"},
    "payments.ReconciliationItem": {OURS: "provider kind"},
    "payments.ReconciliationRun": {OURS: "provider", HIDDEN: "file differences"},
    # Written in SQL, by `payments.domain.reconciliation.matcher`.
    "payments.ReportLine": {OURS: "provider kind", HIDDEN: "reference provider_ref word"},
    "payments.ReportUpload": {OURS: "provider", HIDDEN: "file fault", SEALED: "sealed_content"},
    "payments.Refund": {REQUEST: "reason"},
    "payments.SentFile": {OURS: "rights", SEALED: "sealed_content"},
    "payments.Source": {REQUEST: "redirect owner bank_account metadata consent", OURS: "type"},
    "payments.Sweep": {OURS: "name error"},
    "payments.Webhook": {REQUEST: "url", OURS: "receiver"},
    "payments.WebhookAttempt": {OURS: "headers answer error reason"},
    "payments.WebhookEndpoint": {REQUEST: "url description metadata", OURS: "enabled_events"},
    "payments.WebhookSecret": {SEALED: "sealed"},
    "payments.WorkerProcess": {OURS: "host"},
    "sessions.Session": {OURS: "session_key session_data"},
    "simulator.Entry": {OURS: "reference kind"},
    "simulator.Message": {OURS: "body"},
    "simulator.SimulatedOperation": {OURS: "reference"},
    "simulator.SimulatedPayment": {OURS: "reference source_type return_url refunds decline_code token_digest"},
    "simulator.SimulatedPayout": {OURS: "reference"},
    "staff.Invitation": {OURS: "digest"},
    "staff.SignInFailures": {OURS: "key"},
    "usersessions.UserSession": {HIDDEN: "user_agent", OURS: "session_key data"},
}
