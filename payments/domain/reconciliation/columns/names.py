"""What providers and banks of many countries call their columns, kinds of movements, and rows of sums."""

from payments.domain.reconciliation.columns.layout import Meaning, Role

_NAMES = {
    Role.DATE: (
        "date; transaction date; booking date; settlement date; posting date; value date; created; created at; time;"
        "timestamp; date time; buchungstag; buchungsdatum; datum; valuta; fecha; data; petsa"
    ),
    Role.CURRENCY: "currency; ccy; currency code; währung; moneda; devise; waluta; salapi",
    Role.SIDE: (
        "debit credit; credit debit; dr cr; cr dr; d c; debit or credit; soll haben; side; af bij; indicator;"
        "credit debit indicator"
    ),
    Role.DEBIT: "debit; debits; debit amount; withdrawal; withdrawals; paid out; money out; soll; ausgang; cargo",
    Role.CREDIT: "credit; credits; credit amount; deposit; deposits; paid in; money in; haben; eingang; abono",
    Role.FEE: "fee; fees; commission; mdr; processing fee; total fee; gebühr; gebühren; comisión; bayad",
    Role.NET: "net; net amount; netto; settlement amount; payout amount; neto",
    Role.AMOUNT: (
        "amount; gross; gross amount; transaction amount; betrag; umsatz; importe; monto; montant; bedrag; kwota;"
        "valor; halaga; total amount"
    ),
    Role.REFERENCE: (
        "merchant reference; our reference; reference; reference id; reference number; external id; order id;"
        "order number; order reference; client reference; customer reference; merchant order id; end to end id;"
        "end to end reference; invoice number; kundenreferenz; referencia; référence"
    ),
    Role.PROVIDER_REF: (
        "transaction id; payment id; psp reference; charge id; transaction number; transaction reference;"
        "bank reference; provider reference; trace number; id; balance transaction id; payment reference"
    ),
    Role.KIND: (
        "type; transaction type; kind; category; reporting category; entry type; record type; buchungstext; art; tipo;"
        "transaction code"
    ),
    Role.TEXT: (
        "description; details; narrative; particulars; remarks; memo; text; verwendungszweck; concepto; libellé;"
        "transaction description; omschrijving"
    ),
}
# The more exact first, each with a blank around its words.
HEADERS = {role: [f" {name.strip()} " for name in known.split(";")] for role, known in _NAMES.items()}
# Words that say what a kind means, the first that is in it: `refund-` begins a word, and `-zahlung` ends one.
KINDS = {
    meaning: [f" {part} ".replace(" -", "").replace("- ", "") for part in parts.split()]
    for meaning, parts in {
        Meaning.FEE: "fee fees commission- mdr tax taxes vat -gebühr -gebühren comisión- frais",
        Meaning.DISPUTE: "chargeback- dispute- rückbelastung- contracargo-",
        Meaning.REFUND: "refund- -erstattung rückzahlung- reembolso- remboursement-",
        Meaning.PAYOUT: "payout- withdrawal- settlement- transfer- disbursement- auszahlung- remittance-",
        Meaning.CHARGE: "charge- settled payment- sale sales capture- purchase- -zahlung pago- bayad-",
    }.items()
}
# How rows that are no movements begin.
SUMS = (
    *("total", "totals", "subtotal", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "saldo", "balance"),
    *("opening balance", "closing balance", "end of", "generated", "kabuuan", "totaal", "suma"),
)
