"""The private PostgreSQL and Valkey of a machine without DATABASE_URL and REDIS_URL; `server_pair` runs both."""
