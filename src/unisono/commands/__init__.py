"""One module a group of commands: what they print, and in which order things happen. No measuring, no deciding."""
