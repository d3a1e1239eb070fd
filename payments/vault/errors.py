class VaultError(Exception):
    """A sealed value that does not open: damaged, moved from its place, or of a key that is not here."""
