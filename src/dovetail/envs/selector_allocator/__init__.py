"""Which job goes next and on which nodes, as decisions of two agents: a selector, an allocator."""
