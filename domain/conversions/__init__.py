"""The commission of a sale: how much, for whom and for how long; overrides, refunds, reviews."""
