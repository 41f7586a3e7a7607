"""Connections to PostgreSQL and the transactions on them; `transactions` has the table of what is sent when."""
