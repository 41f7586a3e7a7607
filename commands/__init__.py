"""Operator commands: `flask db|org|key|jobs|demo|relay|scheduler|up`. All take --json; each says what to do next."""
