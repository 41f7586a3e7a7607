"""What happens: plain functions inside the caller's transaction, a folder for each subject.

At the root is what serves them all: `jobs` (every job by name, and the one way to ask for one), `earn` (what every new
conversion brings with it: history, ledger, event), `mail`, `fx_intake`, `ledger_check`, and what the service forgets or
makes anew (`upkeep`, `retention`, `resealing`).
"""
