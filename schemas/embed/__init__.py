"""What a brand's own site shows an affiliate, on the wire.

token   the tokens that a brand's servers make
own     what the affiliate sees
"""
