"""Learning: policies from a cluster's own history."""
