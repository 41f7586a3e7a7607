"""Host names of brands that are proved by DNS: a program's custom domain, an organization's tracking domain.

host_status        a host name with its holder, the DNS records that prove it, and what was found
checks             a DNS check and its effects
scheduled_checks   periodic DNS checks
host_rules         which names a brand may use; sets an organization's tracking domain
served_hosts       which hosts may get a certificate
"""
