"""The database as Django sees it: PostgreSQL, by connections that threads hand on to each other."""
