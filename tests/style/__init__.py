"""The source itself, held to the rules of CONTRIBUTING."""
