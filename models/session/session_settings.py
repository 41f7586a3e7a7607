"""What the server is told about a session of the service: once per connection or, behind a pool, per transaction.

A pool of transactions (PgBouncer with `pool_mode = transaction`) gives each transaction any of its own connections.
What is told with the connection would not be known there, or would be known to somebody else.
"""

# A statement that runs longer than 15 s on an online path is a mistake; it must not hold locks for ever. Prepared
# statements are found by key, so one plan serves every value. A plan is made once and kept, often while a table is
# still empty: it must not read the whole of it.
_SETTINGS = {
    "role": "finderfee_app",
    "timezone": "UTC",
    "statement_timeout": "15000",
    "lock_timeout": "10000",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}


def at_connection(silence_s: int) -> str:
    """Return the options of a connection that is this process's own."""
    return " ".join(f"-c {name}={value}" for name, value in _settings(silence_s).items())


def at_transaction(silence_s: int) -> str:
    """Return the statements that each transaction begins with on a connection that others use, too."""
    return "; ".join(f"set local {name} = '{value}'" for name, value in _settings(silence_s).items())


def _settings(silence_s: int) -> dict[str, str]:
    return {**_SETTINGS, "idle_in_transaction_session_timeout": f"{silence_s}s"}
