"""What a reader is shown, put together of results, plan, declarations and stored vectors."""
