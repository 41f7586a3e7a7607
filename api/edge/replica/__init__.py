"""Reads at a replica: lists, exports and numbers, if the replica has the caller's own writes; else at the primary."""
