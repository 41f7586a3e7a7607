"""Sales, conversions and what happened to them: terms, refunds, reviews, why they are credited."""
