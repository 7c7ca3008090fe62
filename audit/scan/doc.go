// Package scan turns Parquet pages into batches of columns: the audit's hot path.
//
// [Open] reads a file's footer and nothing else. [File.ScanRowGroup] then hands
// out the needed columns of one row group in batches of whole rows; memory is
// one page and one dictionary a column plus one batch, whatever the size of the
// row group. [File.CountLevels] answers questions about NULLs from definition
// levels alone, without decoding a value.
//
// Everything in a file is untrusted. A length is compared with what can really
// be there, and with a budget, before memory is allocated for it; panics of the
// libraries used (footer, decompression) become errors. An error that is the
// file's fault is an [*Error] and names row group, column, page and offset. Any
// other error came from the [Source] or the context.
//
// Statistics are handed out ([File.Statistics]) so that they can be compared
// with the data. They decide nothing here.
//
// # Levels and paths
//
// An entry is one slot of a column's level streams: a value, a NULL, or the
// mark that an ancestor is NULL or empty. A column that is not repeated has one
// entry a row. [Ref] says how to read definition levels for a path, a group's
// included: entries below Ref.Exists have no instance at all (an ancestor list
// is NULL or empty), those below Ref.NonNull are NULL.
//
// Paths are written `a.b`, `items[].sku`, `attrs{}.key`: `[]` stands for the
// elements of a list, `{}` for the entries of a map, whatever the groups in
// between are called. A name with one of `. [ ] { } "` is quoted, `""` stands
// for a quote inside.
package scan
