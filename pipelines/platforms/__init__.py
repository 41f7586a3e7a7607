"""Newsletter and CRM platforms: connected once, and asked who brought a buyer when nothing else says so.

connect    credentials proved and changed, what a brand chose, connections ended
check      whether a platform still takes the credentials; Broken connections
lookup     a payment that credits nobody: platforms are asked about its buyer, and it is credited once
letters    what Owners are told of those
"""
