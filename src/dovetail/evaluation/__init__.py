"""What a policy is worth: runs, bounds, paired comparisons, tables and reports."""
