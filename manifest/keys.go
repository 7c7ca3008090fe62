package manifest

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Prefix is the folder of a warehouse that holds everything but adopted files.
// Keys are relative to the warehouse.
const Prefix = "_wap/"

// Fixed keys, and the folders of the others.
const (
	WarehouseKey   = Prefix + "warehouse.json"
	PointerKey     = Prefix + "refs/main.json"
	SnapshotPrefix = Prefix + "snapshots/"
	TreePrefix     = Prefix + "trees/"
	MarkPrefix     = Prefix + "open/"
	RunsPrefix     = Prefix + "runs/"
	DataFolder     = Prefix + "data/"
)

// SnapshotKey is where the snapshot of a sequence lies; id is a ULID. Keys sort
// as their sequences do.
func SnapshotKey(seq int64, id string) string {
	return fmt.Sprintf("%s%012d-%s.json", SnapshotPrefix, seq, id)
}

// TreeKey is where a tree node lies; sha is the SHA-256 of its bytes in hex.
func TreeKey(id, sha string) string { return TreePrefix + id + "-" + cutDigest(sha) + ".json" }

// MarkKey is where a run's generation is marked unfinished.
func MarkKey(run string, gen int64) string {
	return fmt.Sprintf("%s%s.g%06d", MarkPrefix, Slug(run), gen)
}

// RunPrefix is the folder of a run's records.
func RunPrefix(run string) string { return RunsPrefix + Slug(run) + "/" }

// RunKey is where a run's record lies.
func RunKey(run string) string { return RunPrefix(run) + "run.json" }

// InputsKey is where a task's pinned listing lies; the task [SharedInputs] has
// the one that tasks share.
func InputsKey(run string, gen int64, task string) string {
	name := Slug(task)
	if task == SharedInputs {
		name = SharedInputs
	}
	return generationPrefix(run, gen) + "inputs/" + name + ".json"
}

// AttemptKey is where an attempt, a ULID, of a task says that it started.
func AttemptKey(run string, gen int64, task, attempt string) string {
	return generationPrefix(run, gen) + "attempts/" + Slug(task) + "/" + attempt + ".json"
}

// SealPrefix is the folder of a generation's seals.
func SealPrefix(run string, gen int64) string { return generationPrefix(run, gen) + "tasks/" }

// SealKey is where a task's seal lies.
func SealKey(run string, gen int64, task string) string {
	return SealPrefix(run, gen) + Slug(task) + ".json"
}

// EvidenceKey is where an audit's report lies; id is a ULID.
func EvidenceKey(run string, gen int64, id string) string {
	return generationPrefix(run, gen) + "audits/" + id + ".json"
}

// ManifestKey is where a manifest that a run made lies; id is a ULID, sha the
// SHA-256 of its bytes in hex.
func ManifestKey(run string, gen int64, id, sha string) string {
	return generationPrefix(run, gen) + "manifests/" + id + "-" + cutDigest(sha) + ".json"
}

// DataPrefix is the folder an attempt writes a table's files to: key folders
// and files come below it.
func DataPrefix(table, run string, gen int64, task, attempt string) string {
	return DataFolder + table + "/" + Slug(run) + "/" + generation(gen) + Slug(task) + "/" + attempt + "/"
}

func generationPrefix(run string, gen int64) string { return RunPrefix(run) + generation(gen) }

func generation(gen int64) string { return "g" + strconv.FormatInt(gen, 10) + "/" }

// cutDigest is the part of a hex digest that keys carry.
func cutDigest(sha string) string { return sha[:min(len(sha), 16)] }

const (
	maxName     = 512 // bytes of a run's or a task's name
	maxSlug     = 80  // bytes of a slug before its digest
	slugDigest  = 16  // hex digits
	maxKeyBytes = 1024
)

// Slug is name as it stands in keys: letters, digits and `._-` stay, every
// other byte, and a leading `.` or `_`, is `~XX`. Names that this changes, and
// longer ones than 80 bytes after it, are cut and carry a digest of the whole,
// so that different names have different slugs. It never contains `=` or `%`:
// readers of tables give these a meaning.
func Slug(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		hidden := i == 0 && (c == '.' || c == '_')
		if isNameByte(c) && !hidden {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "~%02X", c)
		}
	}
	slug := b.String()
	if slug == name && len(slug) <= maxSlug && slug != "" {
		return slug
	}
	return slug[:min(len(slug), maxSlug)] + "-" + SHA256Hex([]byte(name))[:slugDigest]
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}

// CheckName says what is wrong with the name of a run or a task: it has 1 to
// 512 bytes of UTF-8 without control characters, and is not [SharedInputs].
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("name is empty")
	case len(name) > maxName:
		return fmt.Errorf("name has %d bytes, at most %d fit", len(name), maxName)
	case name == SharedInputs:
		return fmt.Errorf("name %q is reserved", name)
	}
	return checkText("name", name)
}

// checkText refuses text that is not UTF-8 or has control characters.
func checkText(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %q is not UTF-8", what, s)
	}
	if i := strings.IndexFunc(s, isControl); i >= 0 {
		return fmt.Errorf("%s %q has a control character at byte %d", what, s, i)
	}
	return nil
}

func isControl(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 }

// CleanKey returns key, which is relative to the warehouse, without empty and
// `.` parts and with `..` resolved. Keys that are absolute or empty, that
// escape the warehouse, or that no store could list are errors.
func CleanKey(key string) (string, error) {
	switch {
	case key == "":
		return "", errors.New("key is empty")
	case strings.HasPrefix(key, "/"):
		return "", fmt.Errorf("key %q is absolute, it must be relative to the warehouse", key)
	case len(key) > maxKeyBytes:
		return "", fmt.Errorf("key has %d bytes, at most %d fit", len(key), maxKeyBytes)
	}
	if err := checkText("key", key); err != nil {
		return "", err
	}
	switch clean := path.Clean(key); {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", fmt.Errorf("key %q escapes the warehouse", key)
	case clean == ".":
		return "", fmt.Errorf("key %q names the warehouse itself", key)
	default:
		return clean, nil
	}
}
