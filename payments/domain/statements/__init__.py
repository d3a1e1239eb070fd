"""Statements of merchants by month and trial balances, which add up to the ledger to the smallest unit."""
