package manifest

import "time"

// Attempt is one process executing one task.
type Attempt struct {
	Format     int64     `json:"format"`
	Run        string    `json:"run"`
	Generation int64     `json:"generation"`
	Task       string    `json:"task"`
	Attempt    string    `json:"attempt"` // a ULID
	Started    time.Time `json:"started"`
	Host       string    `json:"host"`
	PID        int64     `json:"pid"`
	Try        string    `json:"try"` // the scheduler's own count, where it tells
	Version    string    `json:"version"`
	Extensions
}

// Seal says "this attempt's files are the task's output". The first per run,
// generation and task wins.
type Seal struct {
	Format     int64       `json:"format"`
	Run        string      `json:"run"`
	Generation int64       `json:"generation"`
	Task       string      `json:"task"`
	Attempt    string      `json:"attempt"`
	Time       time.Time   `json:"time"`
	Inputs     *Ref        `json:"inputs"` // the pinned listing, where there is one
	Changed    []string    `json:"changed_inputs"`
	Schemas    []Schema    `json:"schemas"`
	Partitions []SealFiles `json:"partitions"` // sorted by path
	Controls   []Control   `json:"controls"`
	Totals     Totals      `json:"totals"`
	Extensions
}

// SealFiles are the files a task wrote for one partition.
type SealFiles struct {
	Partition Partition `json:"partition"`
	Files     []File    `json:"files"` // sorted by key; Schema indexes the seal's schemas
	// Replaces are keys of the base's files that these stand in for, in mode
	// replace.
	Replaces []string `json:"replaces"`
}
