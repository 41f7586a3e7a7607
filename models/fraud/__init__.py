"""What the fraud rules kept out, and how strict each brand is."""
