"""From a setting, or from a user's own words, to the command line that starts ranks; where the ranks go."""
