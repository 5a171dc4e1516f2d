"""The language of recipes, and the recipe book of each provider."""
