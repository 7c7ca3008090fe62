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

// Validate checks the fields, each by itself.
func (a *Attempt) Validate() error {
	return checkAll(
		isFormat(a.Format),
		isName("run", a.Run),
		atLeast("generation", 1, a.Generation),
		isName("task", a.Task),
		isID("attempt", a.Attempt),
		isSet("started", a.Started),
		atLeast("pid", 0, a.PID),
	)
}

// Validate checks that the files are the attempt's own, in order, and that the
// totals are theirs.
func (s *Seal) Validate() error {
	var sum Totals
	for _, p := range s.Partitions {
		sum = sum.Add(totalsOf(p.Files))
	}
	return checkAll(
		isFormat(s.Format),
		isName("run", s.Run),
		atLeast("generation", 1, s.Generation),
		isName("task", s.Task),
		isID("attempt", s.Attempt),
		isSet("time", s.Time),
		isRefOrNone("inputs", s.Inputs),
		each("changed_inputs", s.Changed, func(c *string) error { return filled("", *c)() }),
		unique("changed_inputs", s.Changed, itself),
		each("schemas", s.Schemas, (*Schema).validate),
		each("partitions", s.Partitions, s.checkPartition),
		sorted("partitions", s.Partitions, func(p SealFiles) string { return p.Partition.Path }),
		each("controls", s.Controls, func(c *Control) error {
			if c.Task != s.Task {
				return invalid("task", "%q is not the seal's", c.Task)
			}
			return c.validate()
		}),
		unique("controls", s.Controls, controlKey),
		sums("totals", s.Totals, sum),
	)
}

func (s *Seal) checkPartition(p *SealFiles) error {
	return checkAll(
		p.Partition.rule("partition"),
		func() error { return checkFiles(p.Files, len(s.Schemas), p.Partition) },
		each("replaces", p.Replaces, func(key *string) error { return isCleanKey("", *key)() }),
		sorted("replaces", p.Replaces, itself),
		each("files", p.Files, func(f *File) error {
			if f.Run != s.Run || f.Generation != s.Generation || f.Task != s.Task || f.Attempt != s.Attempt {
				return invalid("attempt", "the file is of another attempt than the seal")
			}
			return nil
		}),
	)
}
