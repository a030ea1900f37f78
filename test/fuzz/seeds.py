#!/usr/bin/env python3
"""Makes the first inputs of some fuzz targets: files of the fixtures with the target's head, and bytes made by hand.

Run in the root of the project; writes below test/data/fuzz. Inputs that a fuzzer found are added beside them.
"""
import glob
import os
import struct

FIXTURES, OUT = "test/data/fixtures/data", "test/data/fuzz"
STRING_LIST = b"".join(struct.pack("<I", n) for n in (16, 17, 17, 20)) + b"abcd"


def write(target, name, data):
    os.makedirs(os.path.join(OUT, target), exist_ok=True)
    with open(os.path.join(OUT, target, "seed_" + name), "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def decoder(name, number, data, parameter=0, count=0, first=0):
    write("decoder", name, struct.pack("<BBHH", number, parameter, count, first) + data)


def message(field, data):
    """A member of a protobuf message: bytes, or a number."""
    if isinstance(data, int):
        return bytes([field << 3, data])
    return bytes([field << 3 | 2, len(data)]) + data


def flat(bits):
    return message(1, message(1, bits))


# Deletion files, and the same Arrow files for themselves.
for dataset in ("del_arrow", "del_bitmap", "old_deleted", "update", "stable_rowids"):
    for n, path in enumerate(sorted(glob.glob("%s/%s.lance/_deletions/*" % (FIXTURES, dataset)))[:2]):
        kind = 0 if path.endswith(".arrow") else 1
        write("deletion", "%s_%d" % (dataset, n), struct.pack("<BIH", kind, 10000, 0) + read(path))
        if not kind:
            write("ipc", "%s_%d" % (dataset, n), read(path))
for path in glob.glob("test/data/arrow/*"):
    write("ipc", os.path.basename(path).replace(".", "_"), read(path))

# Manifests: one for each kind of feature.
for dataset in ("types_v22_nulls", "structs_v21", "maps_v22", "blob2_v22", "ext_v22", "del_arrow", "evolve_p14", "stable_rowids", "s3_multibase",
                "config", "primary_key", "old_simple", "empty_v20", "refuse_unknown_flag", "idx_btree"):
    write("manifest", dataset, read(sorted(glob.glob("%s/%s.lance/_versions/*.manifest" % (FIXTURES, dataset)))[0]))

# Decoders, by their numbers in decoder_fuzz.c.
decoder("inline_8", 0, bytes([3]) + bytes(range(128)) * 3, count=1000)
decoder("packed_32", 0, bytes(range(256)) * 8, parameter=2 | 5 << 2, count=2048)
decoder("packed_tail", 0, bytes(range(256)) * 4, parameter=1 | 3 << 2, count=1030)
decoder("runs", 1, struct.pack("<3I", 7, 9, 1) + bytes([2, 3, 200]), parameter=2, count=205, first=12)
decoder("runs_block", 1, struct.pack("<Q", 4) + struct.pack("<2H", 5, 6) + struct.pack("<2H", 300, 1), parameter=0x15, count=301)
decoder("planes", 2, bytes(range(96)), parameter=7, count=12)
decoder("strings_32", 3, STRING_LIST, count=3)
decoder("strings_64", 3, struct.pack("<3Q", 24, 26, 27) + b"xyz", parameter=1, count=2)
decoder("strings_block", 4, struct.pack("<2I", 32, 20) + struct.pack("<3I", 0, 1, 3) + b"abc", count=2)
decoder("strings_block_64", 4, struct.pack("<2Q", 64, 40) + struct.pack("<3Q", 0, 1, 3) + b"abc", count=2)
symbols = (bytes([2, 0, 0, 1]) + struct.pack("<I", 0x46535354) + b"ab".ljust(8, b"\0") + b"longsymb" + bytes([2, 8]))
decoder("symbols", 5, symbols + bytes([0, 1, 255, 99, 0, 1]), count=3, first=len(symbols))
decoder("lz4", 6, struct.pack("<I", 20) + bytes([0x1f]) + b"a" + struct.pack("<H", 1) + bytes([0, 0x50]) + b"aaaaa")
try:
    import pyarrow as pa

    frame = pa.Codec("zstd").compress(b"lance " * 50, asbytes=True)
    decoder("zstd", 7, struct.pack("<Q", 300) + frame)
    decoder("zstd_bare", 7, frame)
    decoder("lz4_long", 6, struct.pack("<I", 300) + pa.Codec("lz4_raw").compress(b"lance " * 50, asbytes=True))
except ImportError:
    pass
decoder("levels", 8, struct.pack("<8H", 0, 1, 2, 0, 0, 3, 1, 0), parameter=3, count=8)

# Codec trees, in their three uses each.
plain_strings = message(2, message(1, flat(32)))
trees = {
    "flat": flat(32),
    "bits": flat(1),
    "strings": plain_strings,
    "nothing": message(3, b""),
    "packed": message(4, message(1, 16) + message(3, flat(3))),
    "inline": message(5, message(1, 8)),
    "fsst": message(6, message(1, symbols) + message(2, plain_strings)),
    "runs": message(8, message(1, flat(32)) + message(2, flat(8))),
    "planes": message(9, message(1, flat(32))),
    "zstd": message(10, message(1, message(1, 2)) + message(3, plain_strings)),
    "lz4": message(10, message(1, message(1, 1)) + message(3, flat(64))),
    "lists": message(11, message(1, 2) + message(2, flat(8)) + message(3, 1)),
    "rows": message(12, message(1, bytes([32, 16])) + message(2, flat(48))),
    "fields": message(13, message(1, message(1, flat(16)) + message(2, 16)) + message(1, message(1, plain_strings) + message(3, 32))),
}
for name, tree in trees.items():
    for use in range(3):
        decoder("tree_%s_%d" % (name, use), 9, tree + STRING_LIST * 3, parameter=use, count=3, first=len(tree))

# Keys of each form, and tokens: of the key set a token that is signed by it, for the others what can't be.
RFC_KEY = b'{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}'
RFC_TOKEN = (b"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl"
             b"LmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")


def jwt(name, keys, token):
    keys += b" " * (-len(keys) % 4)
    write("jwt", name, bytes([len(keys) // 4]) + keys + token)


jwt("key", RFC_KEY, RFC_TOKEN)
jwt("set", b'{"keys":[' + RFC_KEY + b',{"kty":"RSA","kid":"a","n":"' + b"u" * 342 + b'","e":"AQAB"}]}', RFC_TOKEN)
jwt("secret", b"0123456789abcdef0123456789abcdef", RFC_TOKEN)
jwt("pem", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", RFC_TOKEN)
jwt("none", b"0123456789abcdef0123456789abcdef", b"eyJhbGciOiJub25lIn0.eyJyb2xlIjoieCJ9.")

# Answers of the token service, and of a machine's credentials service.
KEYS = b"<AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-02T03:04:05Z</Expiration>"
write("sts", "answer", b"<AssumeRoleResponse><AssumeRoleResult><Credentials>" + KEYS + b"</Credentials></AssumeRoleResult></AssumeRoleResponse>")
write("sts", "error", b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>No.</Message></Error></ErrorResponse>")
write("sts", "machine", b'{"AccessKeyId":"ASIA","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-02T03:04:05Z"}')
