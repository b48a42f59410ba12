"""What is remembered, and how it gets in and out."""
