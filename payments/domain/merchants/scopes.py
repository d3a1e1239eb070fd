"""The rights of restricted keys."""

# Each right, and what it allows. Write does not include read, because a refund needs no view of every charge.
RIGHTS = {
    "sources:read": "read a source",
    "sources:write": "make sources",
    "charges:read": "read and list charges, with their sources and refunds",
    "charges:write": "make charges, capture and verify them, and void held ones",
    "refunds:write": "refund charges; with charges:write, void captured ones",
    "checkout:read": "read and list checkout sessions, payment links and payment requests",
    "checkout:write": "make and end them; with charges:write, capture a session's hold",
    "disputes:write": "add evidence to disputes, submit it, and accept losses",
    "webhooks:read": "read and list webhook endpoints",
    "webhooks:write": "make, change, test and delete webhook endpoints, and roll their secrets",
    "events:read": "read and list events, and in them every object as it was at each change",
    "requests:read": "read the log of requests",
    "balance:read": "read the balance and its transactions",
    "payouts:read": "read and list payouts, and what each is made of",
    "account:read": "read the account, and try the key with a ping",
    "clock:write": "let time pass, and banks and people act, in test mode",
    "customers:read": "read, find and list customers, with the sources kept for them",
    "customers:write": "make, change and delete customers, keep sources for them and give them up",
}
