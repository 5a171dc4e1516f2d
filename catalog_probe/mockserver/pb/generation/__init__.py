"""What PB answers to a prompt: checked, generated, streamed, stored."""
