"""What changes a conversion after it was booked, beside refunds: added amounts, and commissions set by hand."""
