"""Zip files put together by hand, lies included. `zipfile` writes only what is true, and no zstd."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

from content import Content, u16, u32, u64

STORED, DEFLATE, ZSTD = 0, 8, 93
MAX_16, MAX_32 = 0xFFFF, 0xFFFFFFFF


@dataclass
class Entry:
    """What a header claims about the data behind it. Any of it may be a lie."""

    name: bytes
    method: int
    crc: int
    compressed: int
    decompressed: int
    offset: int = 0
    flags: int = 0x800

    def _common(self) -> bytes:
        return (
            u16(self.flags) + u16(self.method) + u16(0) + u16(0x21) + u32(self.crc)
            + u32(min(self.compressed, MAX_32)) + u32(min(self.decompressed, MAX_32)) + u16(len(self.name))
        )  # fmt: skip

    def _extra(self, with_offset: bool) -> bytes:
        """The fields that do not fit into 32 bits, in a zip64 extra field."""
        values = [self.decompressed, self.compressed, *([self.offset] if with_offset else [])]
        large = b"".join(u64(value) for value in values if value >= MAX_32)
        return u16(1) + u16(len(large)) + large if large else b""

    def local(self) -> bytes:
        extra = self._extra(with_offset=False)
        return b"PK\x03\x04" + u16(45) + self._common() + u16(len(extra)) + self.name + extra

    def central(self) -> bytes:
        extra = self._extra(with_offset=True)
        fields = u16(len(extra)) + u16(0) * 3 + u32(0o600 << 16) + u32(min(self.offset, MAX_32))
        return b"PK\x01\x02" + u16(45) * 2 + self._common() + fields + self.name + extra


class Zip:
    """Entries one behind the other, and at the end their central directory."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.directory = bytearray()
        self.count = 0

    def stored(self, name: str | bytes, data: str | bytes) -> Zip:
        data = data.encode() if isinstance(data, str) else data
        return self.add(name, STORED, data, zlib.crc32(data), len(data))

    def deflated(self, name: str, content: Content) -> Zip:
        return self.add(name, DEFLATE, content.deflate(), content.crc(), len(content))

    def zstd(self, name: str, content: Content, ratio: int | None = None, window: int = 17) -> Zip:
        return self.add(name, ZSTD, content.zstd(ratio, window), content.crc(), len(content))

    def add(self, name: str | bytes, method: int, packed: bytes, crc: int, decompressed: int) -> Zip:
        """An entry with these claims in its header."""
        name = name.encode() if isinstance(name, str) else name
        entry = Entry(name, method, crc, len(packed), decompressed, len(self.body))
        self.body += entry.local()
        self.body += packed
        return self.list(entry)

    def list(self, entry: Entry) -> Zip:
        """A line of the directory, whatever is in the file."""
        self.directory += entry.central()
        self.count += 1
        return self

    def end(self, count: int | None = None, size: int | None = None, offset: int | None = None) -> bytes:
        """The end of the directory; each number may be a lie."""
        count = self.count if count is None else count
        size = len(self.directory) if size is None else size
        offset = len(self.body) if offset is None else offset
        large = b""
        if count >= MAX_16 or size >= MAX_32 or offset >= MAX_32:
            at = len(self.body) + len(self.directory)
            large = b"PK\x06\x06" + u64(44) + u16(45) * 2 + u32(0) * 2 + u64(count) * 2 + u64(size) + u64(offset)
            large += b"PK\x06\x07" + u32(0) + u64(at) + u32(1)
        short = u16(min(count, MAX_16)) * 2 + u32(min(size, MAX_32)) + u32(min(offset, MAX_32))
        return large + b"PK\x05\x06" + u32(0) + short + u16(0)

    def bytes(self, **lies: int) -> bytes:
        return bytes(self.body + self.directory + self.end(**lies))

    def write(self, path: Path, **lies: int) -> None:
        with open(path, "wb") as file:
            file.write(self.body)
            file.write(self.directory)
            file.write(self.end(**lies))
