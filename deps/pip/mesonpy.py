"""Stands in for nanoarrow's build backend while pip downloads its sources.

pip asks a source package for its metadata before it keeps the file. The real backend would need minutes and a compiler
toolchain for that; only the file is wanted here, and its hash is checked.
"""
import os


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "nanoarrow-0.9.0.dist-info"
    os.mkdir(os.path.join(metadata_directory, name))
    with open(os.path.join(metadata_directory, name, "METADATA"), "w") as f:
        f.write("Metadata-Version: 2.1\nName: nanoarrow\nVersion: 0.9.0\n")
    return name
