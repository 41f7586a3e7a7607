#!/bin/sh
# On the first start of an empty database: whom the processes log in as. It owns nothing, as decision 4 has it.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v password="$SERVICE_PASSWORD" <<'SQL'
create role finderfee_app nologin;
create role finderfee_login login nosuperuser nocreatedb nocreaterole nobypassrls in role finderfee_app password :'password';
SQL
# For `flask backup`: the owner may copy the server and follow its log from the containers beside it.
echo "host replication $POSTGRES_USER samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
