"""What is to be measured, the engine that measures it, and the file that keeps it."""
