"""Where the money of deals comes from: one source behind one interface (`base.FundingSource`)."""
