"""Changes of booked conversions other than refunds: added amounts, and commissions set by hand."""
