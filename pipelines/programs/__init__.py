"""What happens to campaigns: created, changed, supervised, counted."""
