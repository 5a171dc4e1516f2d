"""What PD answers to a completion: checked, generated, streamed."""
