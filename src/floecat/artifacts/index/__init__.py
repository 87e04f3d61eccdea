"""The scan index of a snapshot: which files it has, and what is known of them.

    ScanIndex                  a manifest: parts with a bitmap of live rows, the snapshot's deletes
      └─ IndexPart             immutable, shared by snapshots: at most 65,536 files by path
           ├─ core             Arrow, a row per file: identity, counts, partition, segments
           ├─ scan files       Arrow: each as a scan has it, serialized
           └─ column files     Arrow, a batch per column: counts and bounds

A part is written once. A later snapshot that still has some of its files names it again, with
another bitmap; only what is new, or what too few files are left of, is written anew.
"""
