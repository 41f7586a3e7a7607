"""Sales and conversions with their terms, refunds, reviews and attribution."""
