"""CSV without loss: encoding, dialect, layout and types found from the whole file, and every row accounted for."""
