#!/bin/sh
# Make kaha's role, which is no superuser, and its database. Run once as a superuser: `postgres` of the official image does
# so at its first start. The password is in /run/secrets/database_password, or in the file that is named.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --dbname postgres --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
    --set password="$(cat "${1:-/run/secrets/database_password}")" <<'SQL'
CREATE ROLE kaha LOGIN PASSWORD :'password';
-- Reads the rows of one merchant, for the merchants' own site.
CREATE ROLE kaha_merchant;
GRANT kaha_merchant TO kaha;
CREATE DATABASE kaha OWNER kaha ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8';
SQL
