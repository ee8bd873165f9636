"""Our collectives on machines that are not here: SimGrid runs the same sources; beyond it, links are counted."""
