"""Lists of affiliates: pages and files of them, and their kept totals with the orders by these."""
