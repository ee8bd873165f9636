"""The vocabulary that everybody may import: errors, texts, sizes, files, what a case and a setting are."""
