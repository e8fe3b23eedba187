"""XXH64 (Y. Collet), the checksum of sealed files, for the few that trials seal anew."""
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def rotate(value, bits):
    return (value << bits | value >> 64 - bits) & MASK


def stir(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def lanes_of(data):
    """The four lanes after all whole stripes of 32 bytes, as one number."""
    lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
    for words in struct.iter_unpack("<4Q", data[:len(data) // 32 * 32]):
        lanes = [stir(lane, word) for lane, word in zip(lanes, words)]
    value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
    for lane in lanes:
        value = ((value ^ stir(0, lane)) * P1 + P4) & MASK
    return value


def xxh64(data):
    value = ((lanes_of(data) if len(data) >= 32 else P5) + len(data)) & MASK
    at = len(data) // 32 * 32
    while at + 8 <= len(data):
        value = (rotate(value ^ stir(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        value = (rotate(value ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ byte * P5 & MASK, 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32
