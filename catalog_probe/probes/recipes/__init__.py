"""What a recipe is written in, and the book of all recipes."""
