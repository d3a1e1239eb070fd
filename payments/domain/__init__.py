"""The domain: everything that changes the state of money is here."""
