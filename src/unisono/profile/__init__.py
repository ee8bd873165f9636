"""What an application did in MPI: recorded, read, shown, exported."""
