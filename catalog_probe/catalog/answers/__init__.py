"""Read answers that a user pastes or records."""
