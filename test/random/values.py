"""Random types with their writer's options, values of them, and the text form that the program of dump.c prints."""
import decimal
import json
import math
import struct

import pyarrow as pa

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau é € 漢".split()
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
decimal.getcontext().prec = 90

EXTENSION = "ARROW:extension:name"
BLOB2 = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8()), ("position", pa.uint64()), ("size", pa.uint64())])


class Kind:
    """A type as fields have it: metadata holds the writer's options and the extension; make() gives a value or None."""

    def __init__(self, type, make, metadata=None, nullable=True):
        self.type, self.make, self.metadata, self.nullable = type, make, metadata or {}, nullable

    def field(self, name):
        return pa.field(name, self.type, nullable=self.nullable, metadata=self.metadata or None)


def text(rnd, n):
    return " ".join(rnd.choice(WORDS) for _ in range(n))


def patterned(rnd, make):
    """Values as make gives them, or few of them, or runs of them, or one: what writers choose encodings by."""
    style = rnd.choice(["any", "any", "few", "run", "one"])
    if style == "any":
        return make
    pool = [make() for _ in range(rnd.choice([2, 5, 90, 130]))]
    if style == "few":
        return lambda: rnd.choice(pool)
    if style == "one":
        return lambda: pool[0]
    left = [0, pool[0]]

    def run():
        if left[0] == 0:
            left[:] = [rnd.choice([1, 3, 50, 400]), rnd.choice(pool)]
        left[0] -= 1
        return left[1]
    return run


def integer(rnd):
    bits, signed = rnd.choice([8, 16, 32, 64]), rnd.random() < .5
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    narrow = rnd.choice([None, 1, 9, 200, 5000])
    t = getattr(pa, ("int" if signed else "uint") + str(bits))()
    return t, lambda: rnd.choice([low, high]) if rnd.random() < .02 else rnd.randint(0, min(high, narrow)) if narrow else rnd.randint(low, high)


def real(rnd):
    t = rnd.choice([pa.float16(), pa.float32(), pa.float64(), pa.float64()])
    rare = [0.0, -0.0, math.inf, -math.inf, math.nan]
    if t == pa.float64():
        return t, lambda: rnd.choice(rare) if rnd.random() < .03 else rnd.uniform(-1e9, 1e9)
    most = 1000 if t == pa.float16() else 10**6
    return t, lambda: rnd.choice(rare) if rnd.random() < .03 else rnd.randint(-most, most) / 8


def exact(rnd):
    wide = rnd.random() < .4
    precision = rnd.randint(1, 76 if wide else 38)
    scale = rnd.choice([0, precision, rnd.randint(0, precision), -2])
    t = (pa.decimal256 if wide else pa.decimal128)(precision, scale)
    top = 10 ** rnd.randint(1, precision) - 1
    return t, lambda: decimal.Decimal(rnd.randint(-top, top)).scaleb(-scale)


def temporal(rnd):
    unit = rnd.choice(list(UNITS))
    kind = rnd.choice(["date32", "date64", "time", "timestamp", "zoned", "duration"])
    if kind == "date32":
        return pa.date32(), lambda: rnd.randint(-700000, 700000)
    if kind == "date64":
        return pa.date64(), lambda: rnd.randint(-20000, 20000) * 86400000
    if kind == "time":
        return (pa.time32 if unit in ("s", "ms") else pa.time64)(unit), lambda: rnd.randint(0, 86400 * UNITS[unit] - 1)
    if kind == "duration":
        return pa.duration(unit), lambda: rnd.randint(-10**12, 10**12)
    zone = rnd.choice(["UTC", "Europe/Berlin", "America/New_York"]) if kind == "zoned" else None
    return pa.timestamp(unit, zone), lambda: rnd.randint(-2 * 10**9, 4 * 10**9) * UNITS[unit] + rnd.randint(0, UNITS[unit] - 1)


def words(rnd):
    t = rnd.choice([pa.string(), pa.string(), pa.large_string(), pa.string_view()])
    most = rnd.choice([0, 1, 3, 8, 60])
    return t, lambda: text(rnd, rnd.randint(0, most))


def octets(rnd):
    t = rnd.choice([pa.binary(), pa.large_binary(), pa.binary_view()])
    most = rnd.choice([1, 20, 20, 700])
    rare = rnd.choice([0, 0, 0, 40000])

    def make():
        return rnd.randbytes(rare) if rare and rnd.random() < .01 else rnd.randbytes(rnd.randint(0, most))
    return t, make


def document(rnd, depth=2):
    kind = rnd.randrange(8 if depth else 6)
    if kind < 6:
        return [None, True, rnd.randint(-2**53, 2**53), rnd.randint(-999, 999) / 8, text(rnd, 2), ""][kind]
    if kind == 6:
        return [document(rnd, depth - 1) for _ in range(rnd.randint(0, 3))]
    return {k: document(rnd, depth - 1) for k in rnd.sample(WORDS, rnd.randint(0, 3))}


def scalar(rnd, nested):
    """-> Kind of a type without parts, all but NULL"""
    pick = rnd.choice(["integer"] * 4 + ["real", "real", "bool", "words", "words", "words", "octets", "octets", "exact", "temporal",
                                         "temporal", "fixed", "null", "dictionary", "dictionary", "uuid", "bfloat16", "json"])
    if pick == "null":
        return Kind(pa.null(), lambda: None)
    if pick == "bool":
        share = rnd.random()
        return Kind(pa.bool_(), patterned(rnd, lambda: rnd.random() < share))
    if pick == "fixed":
        width = rnd.choice([1, 3, 16, 255, 300])
        return Kind(pa.binary(width), patterned(rnd, lambda: rnd.randbytes(width)))
    if pick == "uuid":
        return Kind(pa.binary(16), patterned(rnd, lambda: rnd.randbytes(16)), {EXTENSION: "arrow.uuid"})
    if pick == "bfloat16":
        return Kind(pa.binary(2), lambda: struct.pack("<f", rnd.randint(-99, 99) / 4)[2:], {EXTENSION: "lance.bfloat16"})
    if pick == "json":
        return Kind(pa.string(), lambda: json.dumps(document(rnd)), {EXTENSION: "arrow.json"})
    if pick == "dictionary":
        t, make = rnd.choice([words, words, integer, octets])(rnd)
        if t in (pa.string_view(), pa.binary_view()):  # pyarrow makes no dictionaries of them
            t, make = pa.string(), lambda: text(rnd, 2)
        pool = list(dict.fromkeys(make() for _ in range(rnd.choice([1, 4, 60]))))
        return Kind(pa.dictionary(rnd.choice([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]), t),
                    lambda: rnd.choice(pool))
    t, make = {"integer": integer, "real": real, "exact": exact, "temporal": temporal, "words": words, "octets": octets}[pick](rnd)
    return Kind(t, patterned(rnd, make))


def options(rnd):
    """Metadata that steers the writer's choice of encodings."""
    out = {}
    if rnd.random() < .35:
        out["lance-encoding:compression"] = rnd.choice(["none", "zstd", "lz4", "fsst", "zstd", "lz4"])
        if rnd.random() < .3:
            out["lance-encoding:compression-level"] = rnd.choice(["1", "9"])
    if rnd.random() < .25:
        out["lance-encoding:structural-encoding"] = rnd.choice(["miniblock", "fullzip", "fullzip"])
    if rnd.random() < .2:
        out["lance-encoding:rle-threshold"] = rnd.choice(["0.01", "0.5", "1.0"])
    if rnd.random() < .2:
        out["lance-encoding:bss"] = rnd.choice(["off", "on", "auto"])
    if rnd.random() < .2:
        out["lance-encoding:dict-divisor"] = rnd.choice(["1", "2", "100000"])
    if rnd.random() < .2:
        out["lance-encoding:dict-size-ratio"] = rnd.choice(["0.1", "0.99", "1.0"])
    if rnd.random() < .2:
        out["lance-encoding:dict-values-compression"] = rnd.choice(["none", "lz4", "zstd"])
    if rnd.random() < .15:
        out["lance-encoding:minichunk-size"] = rnd.choice(["64", "512", "4096", "30000"])
    return out


def nullable(rnd, kind, version):
    """The kind with NULLs among its values, and with options. File version 2.0 knows no NULL structs."""
    share = 0 if version == "2.0" and pa.types.is_struct(kind.type) else rnd.choice([0, 0, .05, .3, .9, 1])
    make = kind.make
    metadata = {**options(rnd), **kind.metadata}
    if share == 0 and rnd.random() < .3 and kind.type != pa.null():
        return Kind(kind.type, make, metadata, nullable=False)
    return Kind(kind.type, lambda: None if rnd.random() < share else make(), metadata)


def packed(rnd, version):
    """What the version packs; no part of it may be NULL."""
    free = version >= "2.2"
    parts = [Kind(*rnd.choice([integer, integer, real, temporal] + [words] * free)(rnd)) for _ in range(rnd.randint(1, 4))]
    if rnd.random() < .3 and version != "2.1":
        size = rnd.choice([1, 2, 8])
        parts.append(Kind(pa.list_(pa.int16(), size), lambda: [rnd.randint(-9, 9) for _ in range(size)]))
    if rnd.random() < .2 and free:
        inner = [Kind(*words(rnd)), Kind(*integer(rnd))]
        parts.append(Kind(pa.struct([k.field("g%d" % i) for i, k in enumerate(inner)]), lambda: {"g%d" % i: k.make() for i, k in enumerate(inner)}))
    for p in parts:
        p.type = {pa.string_view(): pa.string()}.get(p.type, p.type)
    return Kind(pa.struct([k.field("f%d" % i) for i, k in enumerate(parts)]), lambda: {"f%d" % i: k.make() for i, k in enumerate(parts)},
                {"lance-encoding:packed": "true"})


def fixed_list(rnd, depth, version):
    size = rnd.choice([1, 2, 3, 8, 70])
    share = rnd.choice([0, 0, .3])
    if version >= "2.2" and depth > 1 and rnd.random() < .4:
        item = structure(rnd, depth - 1, version)
        size = min(size, 8)
    elif rnd.random() < .15:
        inner = rnd.choice([2, 3])
        item = Kind(pa.list_(pa.int16(), inner), lambda: [rnd.randint(-9, 9) for _ in range(inner)])
    else:
        t, make = rnd.choice([integer, real, temporal, lambda r: (pa.bool_(), lambda: r.random() < .5)])(rnd)
        item = Kind(t, make)
    make = item.make
    item = Kind(item.type, lambda: None if rnd.random() < share else make(), item.metadata)
    return Kind(pa.list_(item.field("item"), size), lambda: [item.make() for _ in range(size)])


def structure(rnd, depth, version):
    parts = [any_kind(rnd, depth - 1, version) for _ in range(rnd.randint(1, 3))]
    return Kind(pa.struct([k.field("f%d" % i) for i, k in enumerate(parts)]), lambda: {"f%d" % i: k.make() for i, k in enumerate(parts)})


def any_kind(rnd, depth, version, long=0):
    """A type of at most depth levels; lists at level long may have many items."""
    picks = ["scalar", "scalar"] + (["list", "list", "struct", "struct", "fixed", "packed"] + (["map"] if version >= "2.2" else []) if depth > 0 else [])
    pick = rnd.choice(picks)
    if pick == "scalar":
        kind = scalar(rnd, depth)
    elif pick == "packed":
        kind = packed(rnd, version)
    elif pick == "fixed":
        kind = fixed_list(rnd, depth, version)
    elif pick == "struct":
        kind = structure(rnd, depth, version)
    else:
        most = rnd.choice([0, 1, 3, 8] + ([300] if depth == long else []))
        item = any_kind(rnd, depth - 1, version)
        if pick == "list":
            t = (pa.large_list if rnd.random() < .2 else pa.list_)(item.field("item"))
            kind = Kind(t, lambda: [item.make() for _ in range(rnd.randint(0, most))])
        else:
            integers = rnd.random() < .3
            kind = Kind(pa.map_(pa.int32() if integers else pa.string(), item.field("value")),
                        lambda: [(i if integers else "k%d" % i, item.make()) for i in range(rnd.randint(0, most))])
    return nullable(rnd, kind, version)


def blob(rnd, version, rows):
    """Blobs of the kind that the version has; large ones where there are few."""
    sizes = rnd.choice([[0, 5], [0, 100, 70000], [3000]] if rows <= 100 else [[0, 5], [300]])
    make = lambda: rnd.randbytes(rnd.choice(sizes))
    if version < "2.2":
        return nullable(rnd, Kind(pa.large_binary(), make, {"lance-encoding:blob": "true"}), version)
    return nullable(rnd, Kind(BLOB2, lambda: {"data": make(), "uri": None, "position": None, "size": None}, {EXTENSION: "lance.blob.v2"}), version)


def column(rnd, version, rows):
    """-> Kind of a top-level column"""
    if rnd.random() < .06:
        return blob(rnd, version, rows)
    return any_kind(rnd, 3, version, 3 if rows <= 60 else 0)


# ---- the text form

def date_text(days):
    shifted = days + 719468
    era = shifted // 146097
    of_era = shifted - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    day_of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    year = year_of_era + era * 400 + (month >= 10)
    return "%04d-%02d-%02d" % (year, month + 3 if month < 10 else month - 9, day)


def time_text(value, unit):
    """As the program prints it, also for values that are no time of day: each part with the sign."""
    sign = -1 if value < 0 else 1
    seconds, rest = divmod(abs(value), UNITS[unit])
    out = "%02d:%02d:%02d" % (sign * (seconds // 3600), sign * (seconds // 60 % 60), sign * (seconds % 60))
    return out if unit == "s" else out + ".%0*d" % (DIGITS[unit], sign * rest)


def timestamp_text(value, unit, zoned):
    days, rest = divmod(value, 86400 * UNITS[unit])
    return date_text(days) + "T" + time_text(rest, unit) + ("Z" if zoned else "")


def decimal_text(value, scale):
    digits = str(abs(int(value.scaleb(scale))))
    if scale > 0:
        digits = digits.rjust(scale + 1, "0")
        digits = digits[:-scale] + "." + digits[-scale:]
    elif digits != "0":
        digits += "0" * -scale
    return ("-" if value < 0 else "") + digits


def float_text(value):
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity") if math.isinf(value) else float(value)


def integers_of(array):
    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64()).to_pylist()


def with_nulls(array, texts):
    return [None if missing else t for missing, t in zip(array.is_null().to_pylist(), texts)] if array.null_count else texts


def texts(array, field):
    """The text form of each value of an array, which a field describes."""
    t = array.type
    if isinstance(t, pa.BaseExtensionType):
        name = t.extension_name
        return texts(array.storage, pa.field("", array.storage.type, metadata={EXTENSION: name}))
    if field.type.id == t.id:
        t = field.type  # arrays of maps have lost the metadata of their values
    extension = (field.metadata or {}).get(EXTENSION.encode(), b"").decode()
    if pa.types.is_null(t):
        return [None] * len(array)
    if extension in ("arrow.json", "lance.json"):
        return [None if not v else json.loads(v) for v in array.to_pylist()]  # under a NULL: no text
    if extension == "lance.bfloat16":
        return [None if v is None else float_text(struct.unpack("<f", b"\0\0" + v)[0]) for v in array.to_pylist()]
    if extension == "lance.blob.v2":
        return [None if v is None else v["data"].hex() for v in array.to_pylist()]
    if pa.types.is_dictionary(t):
        items = texts(array.dictionary, pa.field("", t.value_type))
        return [None if i is None or i >= len(items) else items[i] for i in array.indices.to_pylist()]  # under a NULL: anything
    if pa.types.is_boolean(t) or pa.types.is_integer(t) or t in (pa.string(), pa.large_string(), pa.string_view()):
        return array.to_pylist()
    if pa.types.is_floating(t):
        return [None if v is None else float_text(float(v)) for v in array.to_pylist()]
    if pa.types.is_decimal(t):
        return [None if v is None else decimal_text(v, t.scale) for v in array.to_pylist()]
    if pa.types.is_temporal(t):
        show = (date_text if t == pa.date32() else (lambda v: timestamp_text(v, "ms", False)) if t == pa.date64()
                else (lambda v: time_text(v, t.unit)) if pa.types.is_time(t) else (lambda v: v) if pa.types.is_duration(t)
                else (lambda v: timestamp_text(v, t.unit, t.tz is not None)))
        return [None if v is None else show(v) for v in integers_of(array)]
    if pa.types.is_struct(t):
        parts = [texts(array.field(i), t.field(i)) for i in range(t.num_fields)]
        return with_nulls(array, [{t.field(i).name: p[row] for i, p in enumerate(parts)} for row in range(len(array))])
    if pa.types.is_map(t):
        keys, items = texts(array.keys, t.key_field), texts(array.items, t.item_field)
        offsets = array.offsets.to_pylist()
        return with_nulls(array, [[[keys[i], items[i]] for i in range(a, b)] for a, b in zip(offsets, offsets[1:])])
    if pa.types.is_fixed_size_list(t):
        n = t.list_size
        items = texts(array.values.slice(array.offset * n, len(array) * n), t.value_field)
        return with_nulls(array, [items[i * n:(i + 1) * n] for i in range(len(array))])
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        offsets = array.offsets.to_pylist()
        items = texts(array.values, t.value_field)
        return with_nulls(array, [items[a:b] for a, b in zip(offsets, offsets[1:])])
    return [None if v is None else v.hex() for v in array.to_pylist()]  # bytes


def equal(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool) and float(a) == float(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return sorted(a) == sorted(b) and all(equal(a[k], b[k]) for k in a)
    return a == b
