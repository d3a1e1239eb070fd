"""Holds the settlement reports of providers against our ledger: differences are told, and nothing is corrected."""
