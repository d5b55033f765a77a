"""Reading what people have: bytes in, nouns and a list of refused cells out. No file, no database, no clock."""
