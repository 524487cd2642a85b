"""Two agents that learn together: a selector of jobs and an allocator of nodes."""
