"""kaha-verify: checks the books of a kaha installation without trusting it, and imports nothing of kaha.

It takes an export of the ledger, signed heads of its transparency log and the public key of the service, and says
whether every line is in the log, the sums are right and nothing was taken out since a head. It also checks the proof of
one balance transaction, and compares two heads. Exit status: 0 all holds, 1 something does not, 2 wrong usage.
"""

VERSION = "0.1.0"
