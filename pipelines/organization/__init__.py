"""Organizations (tenants), their people and keys.

tenancy             organizations created and changed by the operator
operator_settings   the operator's settings of an organization, from text to columns
profile             changes by the brand itself
onboarding          the steps of setting up, each checked by facts
brand_images        logo and favicon
capacity            usage of the plan's limits
sign_in             members and affiliates who sign in with a token
sessions            browser sessions: one-time links and cookies
provider_sessions   sessions backed by an identity provider, checked again regularly
sign_in_emails      one-time links that affiliates request by email
key_creation        API keys
"""
