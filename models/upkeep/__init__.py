"""Maintenance: rows that expire, partitions, resealing, replication, and what needs the operator's attention."""
