"""The ledger, balances from it, the rules that its rows must obey, and the results of checking them."""
