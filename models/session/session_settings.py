"""PostgreSQL session settings, applied per connection or, behind PgBouncer, per transaction.

A pool of transactions (PgBouncer with `pool_mode = transaction`) lends any of its connections to each transaction, so
settings of a connection would be missing there, or apply to another process.
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


def connection_options(idle_timeout_s: int) -> str:
    """Return the settings as options of a connection that is a thread's own."""
    return " ".join(f"-c {name}={value}" for name, value in _with_timeout(idle_timeout_s).items())


def transaction_prelude(idle_timeout_s: int) -> str:
    """Return the settings as the statements that each transaction on a shared connection begins with."""
    return "".join(f"set local {name} = '{value}'; " for name, value in _with_timeout(idle_timeout_s).items())


def _with_timeout(idle_timeout_s: int) -> dict[str, str]:
    return {**_SETTINGS, "idle_in_transaction_session_timeout": f"{idle_timeout_s}s"}
