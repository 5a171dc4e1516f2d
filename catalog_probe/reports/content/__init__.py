"""What a report says, for every view: records, causes, reasons, sentences, advice and commands."""
