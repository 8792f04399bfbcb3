"""The voices that speak without a download."""
