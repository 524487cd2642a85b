"""What exists: clusters, jobs, traces, what a policy may see, schedules and metrics."""
