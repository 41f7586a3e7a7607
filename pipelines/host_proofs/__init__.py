"""Host names of brands that prove themselves by DNS: a program's custom domain, an organization's tracking domain.

held      a name with its holder, what would prove it, and what was seen of that
holding   what a look at DNS changes
ticking   looks by the clock
letters   what Owners are told of a proof that was lost
naming    which names may be held at all; an organization's tracking domain is set
serving   which hosts may have a certificate
"""
