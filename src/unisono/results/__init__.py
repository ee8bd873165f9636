"""Results that other benchmarks wrote, made into a study: one reader a module, all of them in `readers`."""
