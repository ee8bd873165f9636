"""Which setting is measured next (the race, or everything), and what is decided at the end."""
