"""Which feed-forward part stores the noise, by what the two parts are."""
