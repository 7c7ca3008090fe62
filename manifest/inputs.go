package manifest

import "time"

// SharedInputs is the task name of a listing that all tasks without one of
// their own share.
const SharedInputs = "_run"

// InputSource is an input as it was given.
type InputSource struct {
	Name   string `json:"name"`   // of `--input NAME=…`, else empty
	Source string `json:"source"` // partition path, path@REF, or URL
}

// Inputs is a pinned listing: what every attempt of a task is given.
type Inputs struct {
	Format     int64     `json:"format"`
	Run        string    `json:"run"`
	Generation int64     `json:"generation"`
	Task       string    `json:"task"`
	Time       time.Time `json:"time"`
	Inputs     []Input   `json:"inputs"`
	Extensions
}

// Input is one source with the objects it stood for.
type Input struct {
	InputSource
	// Snapshot is set when the source is a path of the warehouse.
	Snapshot *Base    `json:"snapshot"`
	Objects  []Object `json:"objects"` // sorted by URL
	Bytes    int64    `json:"bytes"`
}

// Object is one pinned object.
type Object struct {
	// Key is relative to the warehouse for a partition's file, else relative to
	// the source URL.
	Key       string  `json:"key"`
	URL       string  `json:"url"`
	Size      int64   `json:"size"`
	ETag      string  `json:"etag"`
	VersionID string  `json:"version_id"`
	SHA256    *string `json:"sha256"`
	Rows      int64   `json:"rows"`      // -1 where only the file itself knows
	Partition string  `json:"partition"` // path, for a partition's file
}

// Validate checks the sources, the objects in order, and sizes that add up.
func (i *Inputs) Validate() error {
	return checkAll(
		isFormat(i.Format),
		isName("run", i.Run),
		atLeast("generation", 1, i.Generation),
		isInputsTask("task", i.Task),
		isSet("time", i.Time),
		each("inputs", i.Inputs, (*Input).validate),
		uniqueInputs("inputs", i.Inputs, func(in Input) InputSource { return in.InputSource }),
	)
}

// isInputsTask takes the name of a task or of the listing that tasks share.
func isInputsTask(path, v string) rule {
	if v == SharedInputs {
		return func() error { return nil }
	}
	return isName(path, v)
}

// uniqueInputs checks that no two sources have one name, or one text where they
// have no name.
func uniqueInputs[T any](path string, list []T, source func(T) InputSource) rule {
	return unique(path, list, func(item T) InputSource {
		if s := source(item); s.Name != "" {
			return InputSource{Name: s.Name}
		}
		return source(item)
	})
}

func (s InputSource) validate() error {
	return filled("source", s.Source)()
}

func (i *Input) validate() error {
	var bytes int64
	for _, o := range i.Objects {
		bytes += o.Size
	}
	return checkAll(
		i.InputSource.validate,
		isBaseOrNone("snapshot", i.Snapshot),
		each("objects", i.Objects, (*Object).validate),
		sorted("objects", i.Objects, func(o Object) string { return o.URL }),
		func() error {
			if i.Bytes != bytes {
				return invalid("bytes", "%d, the objects add up to %d", i.Bytes, bytes)
			}
			return nil
		},
	)
}

func (o *Object) validate() error {
	return checkAll(
		filled("key", o.Key),
		filled("url", o.URL),
		atLeast("size", 0, o.Size),
		func() error {
			if o.SHA256 == nil {
				return nil
			}
			return isDigest("sha256", *o.SHA256)()
		},
		atLeast("rows", -1, o.Rows),
		func() error {
			if o.Partition == "" {
				return nil
			}
			return checkAll(isPath("partition", o.Partition), isCleanKey("key", o.Key))
		},
	)
}
