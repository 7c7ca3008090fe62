package wap

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// output is what an attempt wrote, before it is sealed.
type output struct {
	schemas    []manifest.Schema
	partitions []manifest.SealFiles
	controls   []manifest.Control
}

// localFile is a file to be uploaded.
type localFile struct {
	path      string // on this machine
	name      string // as messages name it
	partition manifest.Partition
}

// refused is an error about what a task wrote: the run stays open.
func refused(format string, args ...any) *Error { return failf(KindOutputRefused, format, args...) }

// ignorable reports whether a name is a marker that engines leave beside data.
func ignorable(name string) bool {
	return name == "_SUCCESS" || strings.HasPrefix(name, "_committed_") || strings.HasPrefix(name, "_started_") ||
		strings.HasSuffix(name, ".crc") || strings.HasSuffix(name, "_$folder$") || name == "_metadata" || name == "_common_metadata"
}

// placeFile finds the partition of a file by its path below a task's output:
// at the top where the scope is one partition, else below a warehouse path. An
// empty partition path means "not a data file".
func (s *session) placeFile(rel string) (manifest.Partition, error) {
	dir, name := path.Split(rel)
	dir = strings.TrimSuffix(dir, "/")
	for _, part := range strings.Split(rel, "/") {
		if strings.HasPrefix(part, "_temporary") || strings.HasPrefix(part, "__magic") {
			return manifest.Partition{}, refused("%s was left behind: the engine's own commit did not finish", rel).
				hint("let the engine's job end well before the seal")
		}
	}
	if ignorable(name) {
		return manifest.Partition{}, nil
	}
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
		return manifest.Partition{}, refused("%s starts with %q: engines skip such files silently", rel, name[:1]).
			hint("rename it, or do not write it")
	}
	if only, one := s.scope.Single(); one && dir == "" {
		return only, nil
	}
	if dir == "" {
		return manifest.Partition{}, refused("%s lies at the top, but the scope %s is more than one partition", rel, strings.Join(s.rec.Scope, ", ")).
			hint("write it below its partition, e.g. $WAP_OUT/table/key=value/%s", name)
	}
	p, err := manifest.ParsePartition(dir)
	if err != nil {
		return manifest.Partition{}, refused("%s lies in no partition", rel).because(err)
	}
	return p, s.inScope(p, rel)
}

// inScope refuses a file outside the run's scope.
func (s *session) inScope(p manifest.Partition, name string) error {
	if s.scope.Contains(p) {
		return nil
	}
	return refused("%s lies in partition %s, outside the scope %s", name, p.Path, strings.Join(s.rec.Scope, ", ")).
		hint("a run may write only what its scope names; begin another run for %s", p.Path)
}

// collectDir lists a local folder of output: data files and control totals.
func (s *session) collectDir(dir string) ([]localFile, []manifest.Control, error) {
	var files []localFile
	var controls []manifest.Control
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return outside("list %s", dir).because(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			return nil
		}
		if strings.HasPrefix(rel, controlDir+"/") {
			found, err := readControls(p, path.Base(rel), s.task)
			controls = append(controls, found...)
			return err
		}
		part, err := s.placeFile(rel)
		if err != nil || part.Path == "" {
			return err
		}
		if !d.Type().IsRegular() {
			return refused("%s is no regular file", rel)
		}
		files = append(files, localFile{p, rel, part})
		return nil
	})
	return files, controls, err
}

// distinct refuses two files of one name in one partition: local ones, or one
// that lies under the staging URL too.
func (s *session) distinct(files []localFile, staged output) error {
	at := map[string]string{}
	for _, p := range staged.partitions {
		for _, f := range p.Files {
			at[f.Key] = f.Key
		}
	}
	for _, f := range files {
		key := s.dataKey(f.partition, path.Base(filepath.ToSlash(f.path)))
		if twin, ok := at[key]; ok {
			return refused("%s and %s are one file of partition %s", twin, f.name, f.partition.Path).hint("give one of them another name")
		}
		at[key] = f.name
	}
	return nil
}

// fileError tells a bad file (exit 3) from a store that could not be read.
func (s *session) fileError(name string, err error) error {
	var bad *scan.Error
	if errors.As(err, &bad) || errors.Is(err, scan.ErrNotParquet) {
		return refused("%s of task %q cannot be read as Parquet", name, s.task).because(err).
			hint("the task must write complete Parquet files; the run stays open for its retry")
	}
	return outside("read %s", name).because(err)
}

// own marks a file as this attempt's.
func (s *session) own(f *manifest.File) {
	f.Run, f.Generation, f.Task, f.Attempt = s.rec.Run.Run, s.rec.Generation, s.task, s.attempt
}

// dataPrefix is where the attempt's files of a table lie.
func (s *session) dataPrefix(table string) string {
	return manifest.DataPrefix(table, s.rec.Run.Run, s.rec.Generation, s.task, s.attempt)
}

// dataKey is where the attempt's file of a partition lies.
func (s *session) dataKey(p manifest.Partition, name string) string {
	keys := strings.TrimPrefix(strings.TrimPrefix(p.Path, p.Table), "/")
	return s.dataPrefix(p.Table) + path.Join(keys, name)
}

// assemble groups described files by partition, with each schema once.
func assemble(parts []manifest.Partition, files []manifest.File, schemas []manifest.Schema) output {
	var out output
	for i, f := range files {
		at := slices.IndexFunc(out.schemas, func(s manifest.Schema) bool { return sameSchema(s, schemas[i]) })
		if at < 0 {
			at = len(out.schemas)
			out.schemas = append(out.schemas, schemas[i])
		}
		f.Schema = int64(at)
		p := slices.IndexFunc(out.partitions, func(s manifest.SealFiles) bool { return s.Partition.Path == parts[i].Path })
		if p < 0 {
			p = len(out.partitions)
			out.partitions = append(out.partitions, manifest.SealFiles{Partition: parts[i]})
		}
		out.partitions[p].Files = append(out.partitions[p].Files, f)
	}
	slices.SortFunc(out.partitions, func(a, b manifest.SealFiles) int { return strings.Compare(a.Partition.Path, b.Partition.Path) })
	for _, p := range out.partitions {
		slices.SortFunc(p.Files, func(a, b manifest.File) int { return strings.Compare(a.Key, b.Key) })
	}
	return out
}

// sameSchema compares all leaves.
func sameSchema(a, b manifest.Schema) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y manifest.Column) bool {
		sameID := (x.FieldID == nil) == (y.FieldID == nil) && (x.FieldID == nil || *x.FieldID == *y.FieldID)
		return sameID && slices.Equal(x.Path, y.Path) && x.Physical == y.Physical && x.Logical == y.Logical &&
			x.Repetition == y.Repetition && x.MaxDef == y.MaxDef && x.MaxRep == y.MaxRep
	})
}

// totals sums up an output.
func (o *output) totals() manifest.Totals {
	var t manifest.Totals
	for _, p := range o.partitions {
		for _, f := range p.Files {
			t = t.Add(manifest.Totals{Files: 1, Rows: f.Rows, Bytes: f.Size})
		}
	}
	return t
}
