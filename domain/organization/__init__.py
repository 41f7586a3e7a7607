"""Plans, roles, the names of hosts, the pictures of a brand."""
