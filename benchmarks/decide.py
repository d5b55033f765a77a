from benchmarks.figures import Figure, Progress


def measure(progress: Progress, small: bool) -> list[Figure]:
    raise NotImplementedError
