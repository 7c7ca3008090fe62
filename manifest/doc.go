// Package manifest is the stored form of a warehouse: every object below _wap/
// and the names it is found under.
//
// All of it is canonical JSON (see [Encode]); a [Ref] carries the full SHA-256
// of what it names and is checked on every read. Encode and [Decode] are exact
// inverses, and neither lets pass what the other would refuse: each type's
// Validate method has the rules. Fields that start with `x_` are not ours and
// survive in any object, see [Extensions].
//
// The partition tree is changed by [Apply] and read by [Lookup], [Walk] and
// [Diff]. The package knows no store: they take a [Loader], and Apply returns
// the new nodes for the caller to write.
package manifest

// Format is the newest format that this package reads and writes. Writers
// write the format that the warehouse object names.
const Format = 1
