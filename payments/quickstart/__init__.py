"""The one command that starts everything on embedded servers, and the demo data."""
