"""Creator deals: their states and steps, what the brand is charged, what a funding source is asked, their events."""
