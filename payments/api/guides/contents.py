"""The guides, in the order of the list of contents."""

# Each group of readers with its guides: the name of the file in `templates/guides/`, which is the last part of its
# URL, and what a reader finds there.
CONTENTS = {
    "For a merchant's staff": {
        "your-dashboard": "Find a payment, give money back, get paid, close the month",
    },
    "For a merchant's developers": {
        "checkout": "A page of ours, in fifteen lines",
        "card-fields": "Three frames and one call",
        "first-payment": "A card charged by hand, in fifteen minutes",
        "kept-cards": "Subscriptions, top-ups and returning payers",
        "webhooks": "Know what happened, and be sure who says it",
        "errors-and-idempotency": "What to do with each answer, and with none",
        "testing": "Test cards, and a week without waiting",
        "rehearse": "A month of buyers against your own shop",
        "payouts": "When your money arrives, checked to the cent",
        "command-line": "Events and test payments in a terminal",
        "generated-clients": "A typed client in Python or TypeScript",
        "assistants": "Have an assistant read payments and ask for refunds",
        "moving": "From another provider to a kaha of your own",
        "leaving": "Take customers and cards along",
    },
    "For support and finance": {
        "back-office": "Inbox, lists, search and on call",
        "payments-in-the-back-office": "Callers, refunds, holds, unknown outcomes and payouts",
        "disputes": "Answer the bank in time, and what it does to the money",
        "reconciliation": "Match reports, close the month, hand over",
        "ledger": "What is posted when money moves",
        "administration": "People, roles, merchants, keys and the audit log",
    },
    "To run kaha": {
        "deployment": "From empty hosts to a first payment",
        "configuration": "Every setting of the environment",
        "operations": "Processes, PostgreSQL, proxy, old data and commands",
        "on-call": "What an alert means and what to do",
        "observability": "Logs, metrics and traces",
        "backups-and-upgrades": "And how to prove that they work",
        "high-availability": "Many hosts, of which any one may fail",
        "sharding": "When one PostgreSQL is not enough",
        "keys-and-vault": "API keys, leaked keys, and what seals card data",
        "providers": "Connect Xendit or Adyen, and route charges",
    },
    "To trust kaha": {
        "comparison": "Beside four systems and hosted services",
        "what-we-keep": "From one version to the next, and how long it is mended",
        "guarantees": "About money, books, providers and webhooks, with their tests",
        "service-guarantees": "About load, secrets, access and operators, with their tests",
        "check-the-books": "See that nothing in the ledger was changed",
        "performance": "What a machine takes, and what to buy",
        "what-makes-it-fast": "The choices, and what each gained",
    },
    "For everybody": {
        "architecture": "How kaha is built, why, and where a change goes",
        "glossary": "Words of the field, and how kaha uses them",
    },
}
NAMES = [name for guides in CONTENTS.values() for name in guides]
