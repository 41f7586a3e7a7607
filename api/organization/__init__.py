"""A brand's own settings: profile, keys, plan, home currency, logo, audit log."""
