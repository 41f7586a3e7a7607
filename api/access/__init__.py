"""Authentication and authorization of requests: guards, callers and rate limits."""
