"""Reconciliation of providers' settlement reports with our ledger: it lists differences and corrects nothing."""
