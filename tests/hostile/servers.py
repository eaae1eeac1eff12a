#!/usr/bin/env python3
"""Hostile servers of models: `servers.py BEHAVIOUR` prints its port and serves until it is killed.

Each behaviour is a function that gets the connection after one request was read, and the key that came with it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from dataclasses import dataclass
from typing import Awaitable, Callable

MIB = 1 << 20
KEY = "sk-hostile/7f3a9c/secret-of-the-run"
"""What the evaluation is given as the key; a slash can be escaped in JSON."""


@dataclass(frozen=True)
class Server:
    """What a server does, and how requests are made."""

    name: str
    about: str
    answer: Callable[[asyncio.StreamWriter, str], Awaitable[None]]
    options: tuple[str, ...] = ()
    """More options for `eval`."""
    is_read: bool = False
    """Whether the log of the run must be readable with all its samples."""
    kind: str = "server"


SERVERS: list[Server] = []


def server(name: str, about: str, *options: str, is_read: bool = False):
    def add(answer):
        SERVERS.append(Server(name, about, answer, options, is_read))
        return answer

    return add


def completion(content: str = "t", **fields) -> dict:
    message = {"role": "assistant", "content": content}
    return {
        "id": "x", "object": "chat.completion", "model": "x",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}, **fields,
    }  # fmt: skip


async def send(writer: asyncio.StreamWriter, body: bytes | str, status: str = "200 OK", *headers: str) -> None:
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}", *headers]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    for at in range(0, len(body), MIB):
        writer.write(body[at : at + MIB])
        await writer.drain()


async def forever(writer: asyncio.StreamWriter, head: bytes, piece: bytes, pause: float = 0) -> None:
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        if pause:
            await asyncio.sleep(pause)


OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"

# --- answers that never end ---


@server("body_endless", "a body that never ends")
async def body_endless(writer, key):
    await forever(writer, OK + b"\r\n", b"x" * MIB)


@server("body_endless_long", "a body that never ends, with a timeout of 20 s", "--timeout", "20")
async def body_endless_long(writer, key):
    await forever(writer, OK + b'\r\n{"choices":[{"message":{"content":"', b"x" * MIB)


@server("body_endless_chunks", "chunks of a byte that never end")
async def body_endless_chunks(writer, key):
    await forever(writer, OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 10_000)


@server("body_blanks", "blanks in front of the answer that never end", "--timeout", "20")
async def body_blanks(writer, key):
    await forever(writer, OK + b"\r\n", b" " * MIB)


@server("body_error_endless", "an error whose body never ends", "--timeout", "20")
async def body_error_endless(writer, key):
    await forever(writer, b"HTTP/1.1 500 Error\r\n\r\n", b"x" * MIB)


@server("header_endless", "a header that never ends")
async def header_endless(writer, key):
    await forever(writer, b"HTTP/1.1 200 OK\r\nx: ", b"x" * MIB)


@server("headers_endless", "headers that never end", "--timeout", "20")
async def headers_endless(writer, key):
    await forever(writer, b"HTTP/1.1 200 OK\r\n", b"x-y: z\r\n" * 10_000)


@server("line_1gb", "1 GB of one line", "--timeout", "20")
async def line_1gb(writer, key):
    writer.write(OK + b"content-length: 1073741824\r\n\r\n")
    for _ in range(1024):
        writer.write(b"x" * MIB)
        await writer.drain()


@server("slow_loris", "a byte a second")
async def slow_loris(writer, key):
    await forever(writer, OK + b"content-length: 100000\r\n\r\n", b" ", pause=1)


@server("slow_loris_header", "a byte of the header a second")
async def slow_loris_header(writer, key):
    await forever(writer, b"HTTP/1.1 200 OK\r\nx: ", b"x", pause=1)


@server("continue_endless", "100 Continue that never ends")
async def continue_endless(writer, key):
    await forever(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@server("silence", "a connection that is held open without an answer")
async def silence(writer, key):
    await asyncio.sleep(3600)


@server("length_lie", "a length of 2**62 and then nothing")
async def length_lie(writer, key):
    writer.write(OK + b"content-length: 4611686018427387904\r\n\r\n{")
    await asyncio.sleep(3600)


@server("close", "a connection that is closed at once")
async def close(writer, key):
    pass


# --- large and odd answers ---


@server("answer_13mb", "a repetitive answer of 13 MB, which a record holds five times", "--timeout", "20", is_read=True)
async def answer_13mb(writer, key):
    await send(writer, json.dumps(completion("x" * 13_500_000)))


@server("answer_64mb", "a repetitive answer of 64 MB", "--timeout", "20", "--limit", "1")
async def answer_64mb(writer, key):
    await send(writer, json.dumps(completion("x" * (64 * MIB - 1000))))


@server("answer_escapes", "an answer that is 60 MB of escapes", "--timeout", "20", "--limit", "1")
async def answer_escapes(writer, key):
    await send(writer, json.dumps(completion("HOLE")).replace("HOLE", "\\u0001" * 10_000_000))


@server("nested", "a field nested 5,000,000 deep")
async def nested(writer, key):
    await send(writer, '{"x":' + "[" * 5_000_000 + "]" * 5_000_000 + "," + json.dumps(completion())[1:])


@server("nested_content", "an answer nested 1,000,000 deep")
async def nested_content(writer, key):
    deep = '{"a":' * 1_000_000 + "1" + "}" * 1_000_000
    await send(writer, json.dumps(completion("HOLE")).replace('"HOLE"', deep))


@server("choices_1000000", "1,000,000 choices", "--timeout", "20")
async def choices_1000000(writer, key):
    choice = json.dumps(completion()["choices"][0], separators=(",", ":"))
    await send(writer, '{"choices":[' + f"{choice}," * 500_000 + choice + "]}")


@server("tiny_values", "an answer with 15,000,000 empty lists beside it", "--timeout", "20")
async def tiny_values(writer, key):
    await send(writer, '{"x":[' + "[]," * 15_000_000 + "[]]," + json.dumps(completion())[1:])


@server("logprobs", "5,000,000 tokens with probabilities", "--logprobs", "--timeout", "20")
async def logprobs(writer, key):
    answer = completion()
    answer["choices"][0]["logprobs"] = {"content": "HOLE"}
    token = '{"token":"t","logprob":-1},'
    await send(writer, json.dumps(answer).replace('"HOLE"', "[" + token * 1_000_000 + token[:-1] + "]"))


def _packed(wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    body = [packer.compress(b'{"choices":[{"message":{"content":"')]
    body += [packer.compress(b"x" * MIB) for _ in range(1024)]
    return b"".join([*body, packer.flush()])


@server("gzip_bomb", "1 GB in 1 MB of gzip")
async def gzip_bomb(writer, key):
    await send(writer, _packed(31), "200 OK", "content-encoding: gzip")


@server("deflate_bomb", "1 GB in 1 MB of deflate")
async def deflate_bomb(writer, key):
    await send(writer, _packed(15), "200 OK", "content-encoding: deflate")


@server("empty", "status 200 with an empty body")
async def empty(writer, key):
    await send(writer, b"")


@server("no_content", "status 204")
async def no_content(writer, key):
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")


@server("html", "a page in place of an answer")
async def html(writer, key):
    await send(writer, b"<html>" + b"<p>\x1b[31m" * 1000)


@server("junk", "bytes that are no HTTP")
async def junk(writer, key):
    writer.write(bytes(range(256)) * 1000)


@server("utf8_wrong", "an answer that is no UTF-8")
async def utf8_wrong(writer, key):
    await send(writer, json.dumps(completion("HOLE")).encode().replace(b"HOLE", b"\xff\xfe\xed\xa0\x80"))


@server("surrogates", "an answer of lone surrogates and NUL")
async def surrogates(writer, key):
    await send(writer, json.dumps(completion("HOLE")).replace("HOLE", r"\ud800\u0000\udfff"))


@server("escapes", "escape sequences and bidirectional marks in the answer, the model and the reason")
async def escapes(writer, key):
    evil = "\x1b]0;evil\x07\x1b[31m\u202e\u2066"
    answer = completion(evil, model=evil, system_fingerprint=evil)
    answer["choices"][0]["finish_reason"] = evil
    await send(writer, json.dumps(answer))


@server("error_escapes", "escape sequences in the text of an error")
async def error_escapes(writer, key):
    await send(writer, json.dumps({"error": {"message": "\x1b]0;evil\x07\u202e" * 1000}}), "400 Bad\x1b[31m")


@server("types", "values of the wrong type")
async def types(writer, key):
    await send(writer, '{"id":[],"model":{},"choices":{"a":1},"usage":[7],"created":"x"}')


# --- usage ---


def _usage(name: str, about: str, value: str) -> None:
    async def answer(writer, key):
        usage = {"prompt_tokens": "HOLE", "completion_tokens": "HOLE", "total_tokens": "HOLE"}
        await send(writer, json.dumps(completion(usage=usage)).replace('"HOLE"', value))

    server(name, about, "--token-limit", "1000000", "--run-token-limit", "2000000")(answer)


_usage("usage_huge", "18446744073709551615 tokens", "18446744073709551615")
_usage("usage_beyond", "2**64 tokens", "18446744073709551616")
_usage("usage_exponent", "1e308 tokens", "1e308")
_usage("usage_nan", "NaN tokens", "NaN")
_usage("usage_negative", "-5 tokens", "-5")
_usage("usage_text", "tokens that are a text", '"many"')
_usage("usage_digits", "a number of tokens with 1,000,000 digits", "1" * 1_000_000)

# --- statuses ---


@server("redirect_loop", "a redirect to itself")
async def redirect_loop(writer, key):
    await send(writer, b"", "307 Temporary Redirect", "location: /v1/chat/completions")


@server("redirect_away", "a redirect to another host, which would get the key")
async def redirect_away(writer, key):
    await send(writer, b"", "308 Permanent Redirect", "location: http://127.0.0.2:9/v1/chat/completions")


@server("redirect_file", "a redirect to a file")
async def redirect_file(writer, key):
    await send(writer, b"", "302 Found", "location: file:///etc/passwd")


@server("retry_after", "Retry-After of 10**18 seconds", "--run-time-limit", "3")
async def retry_after(writer, key):
    await send(writer, b"", "429 Too Many Requests", "retry-after: 999999999999999999")


@server("retry_after_date", "Retry-After in the year 9999", "--run-time-limit", "3")
async def retry_after_date(writer, key):
    await send(writer, b"", "503 Unavailable", "retry-after: Fri, 31 Dec 9999 23:59:59 GMT")


@server("retry_after_odd", "Retry-After that is negative, then no number")
async def retry_after_odd(writer, key):
    await send(writer, b"", "429 Too Many Requests", "retry-after: -1", "retry-after: 1e999")


@server("status_odd", "status 999")
async def status_odd(writer, key):
    await send(writer, b"{}", "999 Odd")


# --- the key ---


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def _echo(name: str, about: str, body: Callable[[str], str], status: str = "200 OK") -> None:
    async def answer(writer, key):
        await send(writer, body(key), status)

    server(name, about, "--cache")(answer)


def _content(text: str) -> str:
    return json.dumps(completion("HOLE")).replace("HOLE", text)


_echo("key_plain", "the key in the answer", _content)
_echo("key_slash", r"the key in the answer, with \/", lambda key: _content(key.replace("/", "\\/")))
_echo("key_unicode", r"the key in the answer, with \u0073", lambda key: _content(_escaped(key)))
_echo("key_twice", r"the key in a JSON text within the answer, with \\u0073", lambda key: _content(_escaped(key).replace("\\", "\\\\")))
_echo("key_model", "the key in the name of the model", lambda key: json.dumps(completion(model=key)))
_echo("key_field", "the key in a field that nothing knows", lambda key: json.dumps(completion(**{"x": key, key: 1})))
_echo("key_stop", "the key in the reason to stop", lambda key: json.dumps(completion()).replace('"stop"', f'"{_escaped(key)}"'))
_echo("key_error", "the key in an error", lambda key: json.dumps({"error": {"message": f"no {key}"}}), "400 Bad Request")
_echo("key_error_unicode", "the key in an error, escaped", lambda key: '{"error":{"message":"' + _escaped(key) + '"}}', "400 Bad Request")
_echo("key_error_plain", "the key in an error that is no JSON", lambda key: f"Bearer {key}", "500 Error")
_echo("key_status", "the key in the status line", lambda key: "", f"400 {KEY}")
_echo("key_tool", "the key in a tool call", lambda key: json.dumps(completion()).replace('"role"', f'"tool_calls":[{{"id":"{_escaped(key)}","type":"function","function":{{"name":"f","arguments":"{_escaped(key)}"}}}}],"role"'))


async def serve(behaviour: Server) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if ": " in line)
                fields = {name.lower(): value for name, value in fields.items()}
                await reader.readexactly(int(fields.get("content-length", "0")))
                await behaviour.answer(writer, fields.get("authorization", "").removeprefix("Bearer "))
                await writer.drain()
                if behaviour.name == "close":
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    served = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(served.sockets[0].getsockname()[1], flush=True)
    await served.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(next(server for server in SERVERS if server.name == sys.argv[1])))
