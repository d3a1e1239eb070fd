#!/bin/sh
# Make the secrets of an installation in a folder that only its owner may enter: `make_secrets.sh FOLDER [DATABASE_HOST]`.
# With a host that PostgreSQL and Redis share: their certificate, too, and the addresses by which kaha verifies it.
# None is overwritten. Keep copies of vault_keys and fingerprint_key apart from the backups of the database.
set -eu
folder=$1 host=${2:-}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
# A word that stands in an address as it is.
word() { random 32 | tr '+/' '-_' | tr -d '='; }
# The user of a container reads them by a mount of each file.
keep() { [ -e "$1" ] || { cat >"$1" && chmod 444 "$1"; }; }
word | keep database_password
word | keep database_admin_password
random 48 | keep secret_key
random 32 | keep fingerprint_key
printf 'first:%s' "$(random 32)" | keep vault_keys
if [ -z "$host" ]; then
    printf 'postgresql://kaha:%s@db:5432/kaha' "$(cat database_password)" | keep database_url
    exit
fi
certificate=/etc/kaha/database.crt
word | keep redis_password
printf 'postgresql://kaha:%s@%s:5432/kaha?sslmode=verify-full&sslrootcert=%s' "$(cat database_password)" "$host" $certificate | keep database_url
printf 'rediss://:%s@%s:6379/0?ssl_ca_certs=%s' "$(cat redis_password)" "$host" $certificate | keep redis_url
[ -e database.crt ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=$host" \
    -addext "subjectAltName=DNS:$host" -keyout database.key -out database.crt 2>/dev/null
