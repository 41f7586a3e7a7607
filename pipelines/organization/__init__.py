"""What happens to a tenant.

tenancy             made and changed by the operator
operator_settings   what the operator may set, read from text
profile             what a brand changes of itself
brand_images        its logo and favicon
capacity            what is used of its plan
sign_in             people who arrive with a token
sessions            people at the pages: one-time links and cookies
provider_sessions   those that an identity provider vouches for, and is asked about again
mailed_links        one-time links that affiliates ask for by mail
issuing             API keys
"""
