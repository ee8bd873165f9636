"""What is here: MPI, UCX, batch system and job, environment; `describe` puts it together with the hardware."""
