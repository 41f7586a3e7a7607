"""What happened to an affiliate, through HTTP."""
