#!/usr/bin/env python3
"""A proxy in front of an S3 server: counts requests and bytes, and answers after a delay, as a store far away does.

    store_proxy.py PORT UPSTREAM_PORT DELAY_MS

GET /-/counts gives {"requests": N, "bytes": N, "most_at_once": N} since the last time it was asked, as JSON, without being
counted itself. Bytes are those of bodies of 2xx answers.
"""
import asyncio
import json
import sys

PIECE = 256 * 1024
counts = {"requests": 0, "bytes": 0, "most_at_once": 0}
running = 0


def fields_of(head):
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])}


async def move(reader, writer, length, counted):
    while length > 0:
        piece = await reader.read(min(length, PIECE))
        if not piece:
            raise ConnectionError
        length -= len(piece)
        if counted:
            counts["bytes"] += len(piece)
        writer.write(piece)
        await writer.drain()


async def move_chunks(reader, writer, counted):
    while True:
        line = await reader.readline()
        length = int(line.split(b";")[0], 16)
        writer.write(line)
        await move(reader, writer, length, counted)
        await move(reader, writer, 2, False)
        if length == 0:
            return


async def one_request(reader, writer, up_reader, up_writer, delay):
    """Returns whether the connection goes on."""
    global running
    head = await reader.readuntil(b"\r\n\r\n")
    text = head.decode("latin-1")
    if text.startswith("GET /-/counts "):
        body = json.dumps(counts).encode()
        counts.update(requests=0, bytes=0, most_at_once=0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        return True
    counts["requests"] += 1
    running += 1
    counts["most_at_once"] = max(counts["most_at_once"], running)
    try:
        up_writer.write(head)
        await move(reader, up_writer, int(fields_of(text).get("content-length", 0)), False)
        answer, _ = await asyncio.gather(up_reader.readuntil(b"\r\n\r\n"), asyncio.sleep(delay))
        status = int(answer[9:12])
        fields = fields_of(answer.decode("latin-1"))
        writer.write(answer)
        if not text.startswith("HEAD ") and status not in (204, 304):
            if fields.get("transfer-encoding", "").lower() == "chunked":
                await move_chunks(up_reader, writer, status < 300)
            else:
                await move(up_reader, writer, int(fields.get("content-length", 0)), status < 300)
        await writer.drain()
    finally:
        running -= 1
    return fields.get("connection", "").lower() != "close"


async def serve(reader, writer, upstream, delay):
    up_reader, up_writer = await asyncio.open_connection("127.0.0.1", upstream, limit=2 * PIECE)
    try:
        while await one_request(reader, writer, up_reader, up_writer, delay):
            pass
    except (ConnectionError, asyncio.IncompleteReadError, ValueError):
        pass
    finally:
        up_writer.close()
        writer.close()


async def main():
    port, upstream, delay = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000
    server = await asyncio.start_server(lambda r, w: serve(r, w, upstream, delay), "127.0.0.1", port, limit=2 * PIECE)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
