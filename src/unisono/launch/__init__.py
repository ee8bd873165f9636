"""From a setting to a command line to a process; what failed, and why."""
