"""What follows from SECRET_KEY: a key for each use, and what they seal and sign.

derived_keys     the key of each use, current and former
sealing          values at rest that only this service can read
signed_payloads  payloads of a fixed length, signed
embed_bearer     the bearer value of an embed token
file_links       links to private files
"""
