"""The network and the nodes as measured: which node, link or processor is slow."""
