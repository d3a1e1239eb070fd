"""Links, requests and sessions that a merchant's people make by a form."""
