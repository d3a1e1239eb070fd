"""Proofs of single transactions, and the export of the books for auditors."""
