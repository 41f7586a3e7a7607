"""After a restore of the database: the transfers that rails list as paid, and the payouts booked for them."""
