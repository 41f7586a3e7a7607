"""What a sale earns, for whom and for how long; overrides, refunds, reviews."""
