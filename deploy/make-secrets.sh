#!/bin/sh
# Makes the passwords that docker-compose.yml hands to its services; keeps those that are there.
set -eu
cd "$(dirname "$0")/.."
folder=var/secrets
umask 077
mkdir -p "$folder"

secret() {
    [ -s "$folder/$1" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$folder/$1"
    cat "$folder/$1"
}

service=$(secret redis-service-password)
worker=$(secret redis-worker-password)
postgres=$(secret postgres-password)
sed "s/SERVICE_PASSWORD/$service/; s/WORKER_PASSWORD/$worker/" deploy/redis-users.acl \
    >"$folder/redis-users.acl"
printf 'redis://service:%s@redis:6379/0' "$service" >"$folder/redis-service-url"
printf 'redis://worker:%s@redis:6379/0' "$worker" >"$folder/redis-worker-url"
printf 'postgresql+psycopg://kerneljudge:%s@postgres/kerneljudge' "$postgres" >"$folder/database-url"
# Services read them as users of their own; the folder keeps everybody else out.
chmod 644 "$folder"/*
echo "secrets are in $folder"
