"""Tool calls and structured output: values that follow a request's schemas."""
