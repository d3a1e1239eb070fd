"""Why a bank returned a payment: the codes of ISO 20022 (ExternalReturnReason1Code) that are met, in words."""

WORDS = {
    "AC01": "the account number is wrong",
    "AC03": "the account number is no valid one",
    "AC04": "the account is closed",
    "AC06": "the account is blocked",
    "AG01": "the account may not take such payments",
    "AM05": "it was paid twice",
    "AM09": "the amount is not the one agreed on",
    "BE01": "the name is not that of the account's holder",
    "BE06": "the receiver is not known at the bank",
    "CNOR": "the receiver's bank takes no such payments",
    "CUST": "the sender asked for it back",
    "DUPL": "it was paid twice",
    "ED05": "it could not be settled between the banks",
    "FOCR": "it was cancelled on request",
    "FR01": "fraud",
    "MD07": "the receiver has died",
    "MS02": "the receiver refused it without a reason",
    "MS03": "the bank refused it without a reason",
    "NARR": "the bank says why in its text",
    "RC01": "the bank's BIC is wrong",
    "RC04": "the receiver's bank is closed",
    "RR01": "the sender's account or name is missing, which the law asks for",
    "RR02": "the sender's name or address is missing, which the law asks for",
    "RR03": "the receiver's name or address is missing, which the law asks for",
    "RR04": "the law forbids it",
    "UPAY": "the receiver was not owed it",
}


def in_words(code: str) -> str:
    """Return a code with its meaning; a text that is none, as it is."""
    return f"{code}: {WORDS[code]}" if code in WORDS else code
