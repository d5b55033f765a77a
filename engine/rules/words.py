"""What counts as words: an audit is not helped by ten dots."""

# No setting: the boxes that ask for words, the typed line and the engine count alike without asking each other.
LETTERS_MIN = 10


def letters(words: str) -> int:
    """The letters among them, of any script; neither spaces, digits nor signs."""
    return sum(each.isalpha() for each in words)
