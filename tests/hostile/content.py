"""Large content that is described, not held: its CRC-32 and its compressed form are computed from the description.

A content is a list of parts: bytes, or `Repeat(pattern, count)`. Gigabytes of it are written as zstd frames by hand
(RFC 8878) in milliseconds, so that a small file can decompress to anything.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache

BLOCK = 128 << 10
"""The most bytes that a block of zstd may hold decompressed."""

MAGIC = b"\x28\xb5\x2f\xfd"
RAW, RLE, COMPRESSED = 0, 1, 2
SHORTEST_MATCH = 131


@dataclass(frozen=True)
class Repeat:
    """A short pattern, many times."""

    pattern: bytes
    count: int

    def __len__(self) -> int:
        return len(self.pattern) * self.count


Part = bytes | Repeat


class Content:
    """What an entry decompresses to."""

    def __init__(self, *parts: Part | str) -> None:
        self.parts: list[Part] = [part.encode() if isinstance(part, str) else part for part in parts]

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def crc(self) -> int:
        """The CRC-32, in a time that does not depend on the number of repetitions."""
        crc = 0
        for part in self.parts:
            if isinstance(part, Repeat):
                crc = crc32_combine(crc, _crc_of_repeat(part.pattern, part.count), len(part))
            else:
                crc = zlib.crc32(part, crc)
        return crc

    def zstd(self, ratio: int | None = None, window: int = 17) -> bytes:
        """One zstd frame. `ratio` is about how many times smaller the frame is; None is as small as possible
        (up to 32,768 times). `window` is the logarithm of the window that a decoder must have."""
        blocks: list[bytes] = []
        for part in self.parts:
            if isinstance(part, Repeat):
                blocks.extend(_repeat_blocks(part, ratio))
            else:
                pieces = (part[at : at + BLOCK] for at in range(0, len(part), BLOCK))
                blocks.extend(_block(RAW, len(piece), piece) for piece in pieces)
        blocks.append(_block(RAW, 0, b"", last=True))
        descriptor = bytes([0, (window - 10) << 3])
        return b"".join([MAGIC, descriptor, *blocks])

    def deflate(self) -> bytes:
        """A raw deflate stream, at most about 1,000 times smaller. Compresses for real: keep it below 1 GB."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = []
        for part in self.parts:
            if isinstance(part, Repeat):
                per_piece = max(1, (1 << 20) // len(part.pattern))
                piece = part.pattern * per_piece
                packed.extend(packer.compress(piece) for _ in range(part.count // per_piece))
                packed.append(packer.compress(part.pattern * (part.count % per_piece)))
            else:
                packed.append(packer.compress(part))
        return b"".join([*packed, packer.flush()])

    def raw(self) -> bytes:
        """The whole content. Only for what is small enough."""
        return b"".join(
            part.pattern * part.count if isinstance(part, Repeat) else part for part in self.parts
        )


def _block(kind: int, size: int, data: bytes, last: bool = False) -> bytes:
    return (last | kind << 1 | size << 3).to_bytes(3, "little") + data


def _repeat_blocks(part: Repeat, ratio: int | None) -> list[bytes]:
    """Blocks that hold one byte (RLE), or the pattern once and a match over the rest of the block."""
    pattern = part.pattern
    overhead = 4 if len(pattern) == 1 else 12 + len(pattern)
    limit = BLOCK if ratio is None else min(BLOCK, overhead * ratio)
    per_block = limit // len(pattern)
    whole, rest = divmod(part.count, per_block)
    blocks = [_repeat_block(pattern, per_block)] * whole
    if rest:
        blocks.append(_repeat_block(pattern, rest))
    return blocks


def _repeat_block(pattern: bytes, count: int) -> bytes:
    size = len(pattern) * count
    if len(pattern) == 1:
        return _block(RLE, size, pattern)
    match = size - len(pattern)
    if match < SHORTEST_MATCH:
        data = pattern * count
        return _block(RAW, len(data), data)
    data = _literals(pattern) + _one_sequence(len(pattern), match)
    return _block(COMPRESSED, len(data), data)


def _literals(pattern: bytes) -> bytes:
    """A section of raw literals of up to 15 bytes, with a header of one byte."""
    if len(pattern) > 15:
        raise ValueError("a pattern has at most 15 bytes")
    return bytes([len(pattern) << 3]) + pattern


def _one_sequence(literals: int, match: int) -> bytes:
    """One sequence: all literals, then a match that copies them again and again. Each code is in RLE mode, so that
    the bit stream holds extra bits only."""
    literal_code = literals  # below 16 a code is its length, without extra bits
    # From here on a code is 36 and the number of its extra bits, which count from a power of two.
    match_bits = (match - 3).bit_length() - 1
    match_code, match_extra = 36 + match_bits, match - 3 - (1 << match_bits)
    value = literals + 3  # offsets follow three codes for repeated ones
    offset_code = value.bit_length() - 1
    offset_extra = value - (1 << offset_code)
    # Read from the end: a 1 that marks the end, the offset, the match.
    bits = (1 << offset_code | offset_extra) << match_bits | match_extra
    stream = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    modes = 0b01_01_01_00
    return bytes([1, modes, literal_code, offset_code, match_code]) + stream


# The CRC of a concatenation from the CRCs of its parts, as zlib's crc32_combine does it: to append n zero bits is a
# linear map, squared for every doubling of n.


def crc32_combine(first: int, second: int, length: int) -> int:
    """The CRC-32 of A + B from those of A and of B, which has `length` bytes."""
    power = 0
    while length:
        if length & 1:
            first = _apply(_zero_bytes(power), first)
        length >>= 1
        power += 1
    return first ^ second


def _apply(matrix: tuple[int, ...], vector: int) -> int:
    total = 0
    for row in matrix:
        if not vector:
            break
        if vector & 1:
            total ^= row
        vector >>= 1
    return total


@lru_cache(None)
def _zero_bytes(power: int) -> tuple[int, ...]:
    """The map that appends 2**power bytes of zeros."""
    if power == 0:
        matrix: tuple[int, ...] = (0xEDB88320, *(1 << bit for bit in range(31)))
        for _ in range(3):
            matrix = tuple(_apply(matrix, row) for row in matrix)
        return matrix
    half = _zero_bytes(power - 1)
    return tuple(_apply(half, row) for row in half)


@lru_cache(None)
def _crc_of_repeat(pattern: bytes, count: int) -> int:
    if count <= 1:
        return zlib.crc32(pattern) if count else 0
    half = _crc_of_repeat(pattern, count // 2)
    crc = crc32_combine(half, half, len(pattern) * (count // 2))
    return zlib.crc32(pattern, crc) if count % 2 else crc


def u16(value: int) -> bytes:
    return struct.pack("<H", value)


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)
