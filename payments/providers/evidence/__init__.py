"""Merchants' evidence as documents that providers take."""
