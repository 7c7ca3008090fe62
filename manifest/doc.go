// Package manifest is the stored form of a warehouse: every object below _wap/
// and the names it is found under.
//
// All of it is canonical JSON (see [Encode]); a [Ref] carries the full SHA-256
// of what it names and is checked on every read. The package knows no store:
// functions that walk the tree take a [Loader].
package manifest

// Format is the newest format that this package reads and writes. Writers
// write the format that the warehouse object names.
const Format = 1
