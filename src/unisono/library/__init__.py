"""Our native programs, built for the machine's own MPI and kept."""
