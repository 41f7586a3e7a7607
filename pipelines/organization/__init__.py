"""Organizations (tenants), their people and keys.

tenancy             organizations created and changed by the operator
operator_settings   the operator's settings of an organization, from text to columns
profile             changes by the brand itself
onboarding          the steps of setting up, each checked by facts
brand_images        logo and favicon
capacity            usage of the plan's limits
sign_in             members and affiliates who sign in with a token
sessions            browser sessions, and the random cookies that identify them
link_sign_in        sign-in by a one-time link
destinations        what a person may open after signing in by email
second_factor       authenticator apps and recovery codes
provider_sessions   sessions backed by an identity provider, checked again regularly
sign_in_emails      one-time links that people request by email
team                members, their roles and invitations
key_creation        API keys
"""
