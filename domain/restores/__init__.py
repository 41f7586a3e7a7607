"""After a restore: what rails show as paid, and what of it the restored database has forgotten."""
