"""The source of the money of deals, behind one interface (`base.FundingSource`)."""
