#!/bin/sh
# Make the secrets of an installation in a folder that only its owner may enter: `make_secrets.sh FOLDER [DATABASE_HOST]`.
# None is overwritten. Keep copies of vault_keys and fingerprint_key apart from the backups of the database.
set -eu
folder=$1
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
# The user of a container reads them by a mount of each file.
keep() { [ -e "$1" ] || { cat >"$1" && chmod 444 "$1"; }; }
random 32 | tr '+/' '-_' | tr -d '=' | keep database_password
random 32 | tr '+/' '-_' | tr -d '=' | keep database_admin_password
random 48 | keep secret_key
random 32 | keep fingerprint_key
printf 'first:%s' "$(random 32)" | keep vault_keys
printf 'postgresql://kaha:%s@%s:5432/kaha' "$(cat database_password)" "${2:-db}" | keep database_url
