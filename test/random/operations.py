"""Random operations on a dataset of pylance: each makes a new version, in place or beside it."""
import os

import lance
import pyarrow as pa

import values

KEY = "id"


class Table:
    """A dataset at a path (or branch of it) and how to make more rows for it."""

    def __init__(self, rnd, path, kinds, version):
        self.rnd, self.path, self.kinds, self.version, self.branch = rnd, path, dict(kinds), version, None
        self.next_key = 0
        self.names = 0

    def rows(self, count, keys=None):
        keys = keys or range(self.next_key, self.next_key + count)
        self.next_key = max(self.next_key, max(keys, default=0) + 1)
        fields = [pa.field(KEY, pa.int64(), nullable=False)] + [k.field(n) for n, k in self.kinds.items()]
        arrays = [pa.array(list(keys), pa.int64())] + [pa.array([k.make() for _ in keys], k.type) for k in self.kinds.values()]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def open(self, version=None):
        dataset = lance.dataset(self.path)
        if self.branch is not None or version is not None:
            dataset = dataset.checkout_version((self.branch, version) if self.branch is not None else version)
        return dataset

    def plain(self):
        """Columns that expressions may name: no blobs, no parts."""
        return [n for n, k in self.kinds.items() if not pa.types.is_nested(k.type) and "lance-encoding:blob" not in k.metadata]

    def has_blobs(self):
        return any("blob" in str(k.metadata) for k in self.kinds.values())


def append(rnd, t, dataset):
    rows = t.rows(rnd.choice([1, 5, 80]))
    optional = [n for n, k in t.kinds.items() if k.nullable]
    if optional and rnd.random() < .3:
        rows = rows.drop_columns([rnd.choice(optional)])
    other = rnd.choice([None, "2.0", "2.1", "2.2"]) if rnd.random() < .2 else None
    dataset.insert(rows, mode="append", **({"data_storage_version": other} if other else {}))


def delete(rnd, t, dataset):
    dataset.delete(rnd.choice(["id % 2 = 0", "id % 7 = 3", "id < 20", "id >= 10 and id < 90", "id % 50 != 1"]))


def update(rnd, t, dataset):
    dataset.update({KEY: "id + 100000"}, where="id %% %d = 0" % rnd.choice([2, 5, 17]))
    t.next_key += 200000


def merge_insert(rnd, t, dataset):
    keys = sorted(rnd.sample(range(t.next_key + 5), min(t.next_key, 30)))
    step = dataset.merge_insert(KEY).when_matched_update_all()
    if rnd.random() < .7:
        step = step.when_not_matched_insert_all()
    step.execute(t.rows(len(keys), keys))


def update_columns(rnd, t, dataset):
    """Some columns of some rows: the new values may go to files of their own."""
    names = rnd.sample(list(t.kinds), 1)
    keys = sorted(rnd.sample(range(t.next_key), min(t.next_key, 30)))
    rows = t.rows(len(keys), keys).select([KEY] + names)
    dataset.merge_insert(KEY).when_matched_update_all().execute(rows)


def new_name(t):
    t.names += 1
    return "n%d" % t.names


def add_column(rnd, t, dataset):
    name = new_name(t)
    way = rnd.choice(["null", "sql", "rows"])
    if way == "null":
        kind = values.column(rnd, t.version, 100)
        kind.nullable = True
        dataset.add_columns([kind.field(name)])
    elif way == "sql":
        kind = values.Kind(pa.int64(), lambda: rnd.randint(0, 9))
        dataset.add_columns({name: "id * 3"})
    else:
        kind = values.column(rnd, t.version, 100)
        batches = dataset.scanner(columns=[KEY]).to_table()
        arrays = [batches.column(0).combine_chunks(), pa.array([kind.make() for _ in range(batches.num_rows)], kind.type)]
        kind.nullable = True
        dataset.merge(pa.Table.from_arrays(arrays, schema=pa.schema([pa.field(KEY, pa.int64()), kind.field(name)])), KEY)
    t.kinds[name] = kind


def drop_column(rnd, t, dataset):
    if len(t.kinds) > 1:
        name = rnd.choice(list(t.kinds))
        dataset.drop_columns([name])
        del t.kinds[name]


def rename_column(rnd, t, dataset):
    name, other = rnd.choice(list(t.kinds)), new_name(t)
    dataset.alter_columns({"path": name, "name": other})
    t.kinds = {other if n == name else n: k for n, k in t.kinds.items()}


CASTS = {pa.int8(): pa.int32(), pa.int16(): pa.int64(), pa.int32(): pa.int64(), pa.uint8(): pa.uint32(), pa.float32(): pa.float64(),
         pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


def cast_column(rnd, t, dataset):
    names = [n for n in t.plain() if t.kinds[n].type in CASTS and values.EXTENSION not in t.kinds[n].metadata]
    if not names:
        return
    name = rnd.choice(names)
    kind = t.kinds[name]
    dataset.alter_columns({"path": name, "data_type": CASTS[kind.type]})
    t.kinds[name] = values.Kind(CASTS[kind.type], kind.make, kind.metadata, kind.nullable)


def compact(rnd, t, dataset):
    dataset.optimize.compact_files(target_rows_per_fragment=rnd.choice([50, 10**6]), materialize_deletions_threshold=rnd.choice([0.0, 0.1]),
                                   max_rows_per_group=rnd.choice([7, 1024]))


def restore(rnd, t, dataset):
    """Back to the version before, with the columns it had: only where they are still the same."""
    if dataset.version > 1 and t.branch is None:
        before = dataset.checkout_version(dataset.version - 1)
        if before.schema.names == dataset.schema.names and before.schema.types == dataset.schema.types:
            before.restore()


def tag(rnd, t, dataset):
    dataset.tags.create("tag%d" % rnd.randrange(10**6), dataset.version)


def branch(rnd, t, dataset):
    if t.branch is None:
        t.branch = "b%d" % rnd.randrange(100)
        dataset.create_branch(t.branch, dataset.version)


def clone(rnd, t, dataset):
    if t.branch is None:
        path = t.path.replace(".lance", "_c.lance")
        dataset.shallow_clone(path, dataset.version)
        t.path = path


def overwrite(rnd, t, dataset):
    lance.write_dataset(t.rows(rnd.choice([0, 1, 60])), t.path if t.branch is None else dataset, mode="overwrite")


def configure(rnd, t, dataset):
    dataset.update_config(rnd.choice([{"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "8"},
                                      {"lance.row_ids.range_segments": "true"}, {"anything": "else"}]))


OPERATIONS = [append, append, append, delete, delete, update, merge_insert, update_columns, add_column, add_column, drop_column,
              rename_column, cast_column, compact, compact, compact, restore, tag, branch, clone, overwrite, configure]


def apply(t):
    """One operation at random. -> its name, with what the writer said against it, if anything"""
    operation = t.rnd.choice(OPERATIONS)
    kinds = dict(t.kinds)
    branch_before, path = t.branch, t.path
    try:
        operation(t.rnd, t, t.open())
        return operation.__name__
    except BaseException as e:  # panics of the writer are no Exceptions
        if isinstance(e, KeyboardInterrupt):
            raise
        t.kinds = kinds
        t.branch, t.path = branch_before, path
        return "(%s: %s)" % (operation.__name__, str(e).split("\n")[0][:90])
