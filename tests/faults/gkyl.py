"""Series of Gkeyll's format (file type 2): blocks of rows, each with a header. How rows lie in blocks says how often they were flushed."""
import struct


def series(path):
    """Times and values of all blocks, one after the other; nothing for a file of another kind."""
    with open(path, "rb") as stream:
        data = stream.read()
    times, values, at = [], [], 0
    while at < len(data):
        if data[at:at + 5] != b"gkyl0":
            return None
        _, kind, meta = struct.unpack_from("<3Q", data, at + 5)
        at += 29 + meta
        if kind != 2:
            return None
        _, row_bytes, rows = struct.unpack_from("<3Q", data, at)
        at += 24
        times.append(data[at:at + 8 * rows])
        values.append(data[at + 8 * rows:at + (8 + row_bytes) * rows])
        at += (8 + row_bytes) * rows
    return b"".join(times), b"".join(values)
