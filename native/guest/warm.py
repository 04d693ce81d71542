# Waits, started and ready, until the agent says which program it is to be; then it is that program, as far as a program
# can tell. native/guest/warm.c says when it is used. Everything is local: the names of the module become the program's.
def wait_and_become():
    import io, os, sys

    own_file = __file__
    os.write(3, b"r")
    parts = []
    while chunk := os.read(3, 65536):
        parts.append(chunk)
    os.close(3)
    cwd, count, *rest = b"".join(parts).split(b"\0")
    argv = [os.fsdecode(argument) for argument in rest[: int(count)]]
    os.chdir(cwd)
    os.environ.clear()
    for variable in rest[int(count) : -1]:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    path = os.path.abspath(argv[1])
    sys.argv, sys.orig_argv = argv[1:], argv
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", path)
    names = sys.modules["__main__"].__dict__
    # The rest is as this interpreter makes it for every program.
    del names["wait_and_become"]
    names.update(__loader__=loader, __file__=path)
    del chunk, parts, rest, loader, count, cwd, argv
    try:
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, names)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        import signal

        # As the interpreter does it: whoever waits is told of the signal.
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as problem:
        trace = problem.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == own_file:
            trace = trace.tb_next
        sys.excepthook(type(problem), problem.with_traceback(trace), trace)
        del trace, problem
        sys.exit(1)


wait_and_become()
