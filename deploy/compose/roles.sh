#!/bin/sh
# Runs on the first start of an empty database: creates the role that the processes log in as. It owns nothing (decision 4).
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v password="$SERVICE_PASSWORD" <<'SQL'
create role finderfee_app nologin;
create role finderfee_login login nosuperuser nocreatedb nocreaterole nobypassrls in role finderfee_app password :'password';
SQL
# For `flask backup`: lets the owner copy the server and receive its write-ahead log from the containers of the same network.
echo "host replication $POSTGRES_USER samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
