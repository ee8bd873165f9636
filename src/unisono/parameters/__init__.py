"""What can be varied, at which scope, how each MPI spells it, and whether it can be varied here."""
