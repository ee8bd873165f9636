"""Which layout: processes and threads, NUMA policy, packing and links, for the solver or a user's program."""
