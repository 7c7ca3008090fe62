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
