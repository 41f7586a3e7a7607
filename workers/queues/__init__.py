"""The actors, one file per queue: which job runs what."""
