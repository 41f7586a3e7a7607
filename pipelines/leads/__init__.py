"""What happens to leads: signed, captured on a page, paid for."""
