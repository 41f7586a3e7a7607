"""Who may call: guards, the callers they find, and how often each may."""
