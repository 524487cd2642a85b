"""The ordering, placement and estimates that suit a history best, chosen on all that is known."""
