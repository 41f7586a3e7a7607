"""Newsletter and CRM platforms: connected once, and queried for a buyer's affiliate when nothing else identifies them.

connect    connections: credentials checked and changed, the brand's options
check      check whether a platform still accepts the credentials; Broken connections and the email about them
lookup     look-up of the buyer of an uncredited payment, which is credited once
"""
