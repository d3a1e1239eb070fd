"""Files of banks, written after what banks really write: every version of camt, and MT940."""

from collections.abc import Iterable

ACCOUNT = "001122334455"
KINDS = {
    "053": ("BkToCstmrStmt", "Stmt"),
    "052": ("BkToCstmrAcctRpt", "Rpt"),
    "054": ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
}


def balance(code: str, amount: str, day: str, currency: str = "PHP") -> str:
    side, amount = ("DBIT", amount[1:]) if amount.startswith("-") else ("CRDT", amount)
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy='{currency}'>{amount}</Amt>"
        f"<CdtDbtInd>{side}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>"
    )


def entry(amount: str, inside: str = "", day: str = "2026-11-26", ref: str = "", **changed: str) -> str:
    """Return an entry; a negative amount is a debit. `inside` is what it has of details, `changed` other elements."""
    side, amount = ("DBIT", amount[1:]) if amount.startswith("-") else ("CRDT", amount)
    elements = {
        "Amt": f"<Amt Ccy='PHP'>{amount}</Amt>",
        "CdtDbtInd": f"<CdtDbtInd>{side}</CdtDbtInd>",
        "Sts": "<Sts><Cd>BOOK</Cd></Sts>",
        "BookgDt": f"<BookgDt><Dt>{day}</Dt></BookgDt>",
        "AcctSvcrRef": ref and f"<AcctSvcrRef>{ref}</AcctSvcrRef>",
    } | changed
    return f"<Ntry>{''.join(elements.values())}{inside}</Ntry>\n"


def details(*references: str, amount: str = "", text: str = "", reason: str = "", path: str = "EndToEndId") -> str:
    """Return the details of an entry: a payment for each of `references`, each of `amount` where that is given."""
    more = f"<RmtInf><Ustrd>{text}</Ustrd></RmtInf>" if text else ""
    more += f"<RtrInf><Rsn><Cd>{reason}</Cd></Rsn></RtrInf>" if reason else ""
    each = f"<Amt Ccy='PHP'>{amount}</Amt>" if amount else ""
    one = f"<TxDtls><Refs><{path}>{{}}</{path}></Refs>{each}{more}</TxDtls>"
    return f"<NtryDtls>{''.join(map(one.format, references))}</NtryDtls>"


def camt(
    *entries: str,
    kind: str = "053",
    version: str = "08",
    opening: str = "1000.00",
    closing: str = "1000.00",
    day: str = "2026-11-26",
    name: str = "S-1",
    number: str = ACCOUNT,
) -> str:
    """Return a message with one statement, or notice, of a day."""
    root, inner = KINDS[kind]
    balances = balance("OPBD", opening, day) + balance("CLBD", closing, day) if kind == "053" else ""
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n"
        f"<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.{kind}.001.{version}'><{root}>"
        f"<GrpHdr><MsgId>M</MsgId></GrpHdr>\n<{inner}><Id>{name}</Id>"
        f"<Acct><Id><Othr><Id>{number}</Id></Othr></Id><Ccy>PHP</Ccy></Acct>{balances}\n"
        f"{''.join(entries)}</{inner}></{root}></Document>"
    )


def mt940(
    lines: Iterable[str] = (), opening: str = "C261125PHP1000,00", closing: str = "C261126PHP1000,00", **other: str
) -> str:
    """Return a message; `other` are further fields by their names, such as `f25` and `f28C`."""
    fields = {"f20": "STARTUMS", "f25": ACCOUNT, "f28C": "00001/001"} | other
    head = "".join(f":{name[1:]}:{value}\n" for name, value in fields.items())
    return "\n".join([f"{head}:60F:{opening}", *lines, f":62F:{closing}", "-", ""])
