"""What runs saw: results and their file, and every rule over results."""
