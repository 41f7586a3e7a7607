"""What happens to affiliates: created, changed, decided about, recruited, given links and tax forms."""
