"""Double-entry ledger: the accounts of each movement of money, posted in the statement of the change itself."""
