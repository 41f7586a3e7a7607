"""The payout rails, one file each, behind one interface (`base.Rail`)."""
