"""Policies: which job goes next (ordering), and on which GPUs (placement)."""
