"""What a restricted key may be let do. A room above adds the rights that its own calls take (customers does)."""

# What each right opens. To write does not include to read: whoever refunds need not see every charge.
RIGHTS = {
    "sources:read": "read a source",
    "sources:write": "make sources",
    "charges:read": "read and list charges, with their sources and refunds",
    "charges:write": "make charges, capture and verify them, and void held ones",
    "refunds:write": "refund charges; with charges:write, void captured ones",
    "events:read": "read and list events, and in them every object as it was at each change",
    "balance:read": "read the balance",
    "account:read": "read the account, and try the key with a ping",
    "clock:write": "let time pass in test mode",
}
# What moves money: in live mode, a key with one of these wants a second person.
MONEY_RIGHTS = frozenset(["charges:write", "refunds:write"])
