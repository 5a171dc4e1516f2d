"""Tool calls and structured output: which tools a request makes the model call, and values that follow its schemas."""
