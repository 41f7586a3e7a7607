"""Paying: previews and runs, decisions about payouts, accounts, drafts, what is paid by hand, what rails confirm."""
