"""What is here: topology, MPI, UCX, network, scheduler, and what identifies it."""
