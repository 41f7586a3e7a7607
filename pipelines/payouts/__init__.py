"""Paying: `due` plans, `run` claims, `transfer` sends, `rail_events` settles. Lock order: line, payout, run."""
