"""Payouts: what a merchant's balance has goes to its bank, by a schedule or by an operator."""
