"""Who is asked about a lead or a click: a verifier of people, name servers, a scorer of the operator's."""
