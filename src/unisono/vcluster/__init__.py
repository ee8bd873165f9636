"""Several nodes on one machine, for trying and testing what needs a cluster."""
