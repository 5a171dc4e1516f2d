"""What a report says: causes, sentences, attribution, advice, and the commands that ask again."""
