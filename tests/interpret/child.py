"""A process with the interpreter loaded that answers each request in a fork of its own.

Frames both ways: eight bytes of length, then the bytes. An empty answer means the fork died.
"""

import os
import sys

LENGTH = 8


def serve(requests: int, answers: int) -> None:
    """Answer until the requests end."""
    import workers.interpret.prewarm  # noqa: F401
    from workers.interpret.main import run

    with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb") as sink:
        while header := source.read(LENGTH):
            request = source.read(int.from_bytes(header, "little"))
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                with os.fdopen(writer, "wb") as pipe:
                    pipe.write(run(request))
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader, "rb") as pipe:
                answer = pipe.read()
            os.waitpid(child, 0)
            sink.write(len(answer).to_bytes(LENGTH, "little") + answer)
            sink.flush()


if __name__ == "__main__":
    answers = os.dup(1)
    os.dup2(2, 1)  # what submissions print is no answer
    serve(os.dup(0), answers)
    sys.exit(0)
