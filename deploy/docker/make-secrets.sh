#!/bin/sh
# Makes the secrets that docker-compose.yml hands to the services, each in a file, and leaves those that are there alone.
# The folder is its owner's alone; the files in it must be readable for user 1000 of the containers, which get the files only.
set -eu
umask 077
folder=$(dirname "$0")/secrets
mkdir -p "$folder"

make() {
  if [ -s "$folder/$1" ]; then
    echo "$folder/$1 is there already"
  else
    openssl rand -base64 "$2" >"$folder/$1.new"
    chmod 0444 "$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
    echo "$folder/$1 was made"
  fi
}

# Opens every secret and address in the events: keep a copy of it, apart from the backups.
make secret_key 32
# Of the first account, with OWNER_EMAIL.
make owner_password 24
