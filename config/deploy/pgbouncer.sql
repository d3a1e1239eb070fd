-- The time-outs of kaha's role, for connections through a pooler in transaction mode, which takes none from kaha:
-- psql --dbname kaha --file pgbouncer.sql. They hold for new connections; kaha checks them when it starts.
ALTER ROLE kaha IN DATABASE kaha SET statement_timeout = '10s';
ALTER ROLE kaha IN DATABASE kaha SET lock_timeout = '5s';
ALTER ROLE kaha IN DATABASE kaha SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE kaha IN DATABASE kaha SET jit = off;
ALTER ROLE kaha IN DATABASE kaha SET timezone = 'UTC';
