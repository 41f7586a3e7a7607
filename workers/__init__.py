"""How work runs: one file per queue with its actors; broker, relay, scheduler, supervisor, operator commands."""
