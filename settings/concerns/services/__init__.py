"""Services of the operator's choice that are asked for what Finderfee does not know by itself."""
