"""The embedded servers, the one command that starts everything on them, and the demo data."""
