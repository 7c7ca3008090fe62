package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func filesCommand() *command {
	return &command{
		name:      "files",
		argsUsage: "PATH[@REF]…",
		about:     "what a reader should read: the live files below paths, all at one sequence",
		detail: "--format lines prints one file a line, a local path where there is one, else a URL. " +
			"duckdb prints one SELECT; spark prints JSON, {\"sequence\", \"reads\": [{\"paths\", \"constants\": [{\"name\", \"type\", \"value\"}]}]}: " +
			"load each read's paths, add its constants with lit(value).cast(type), join the reads with unionByName. " +
			"Both add the partition keys as typed constants where the files do not store them. " +
			"symlink prints the symlink.txt of one partition.",
		example: `wap files orders --warehouse ./lake --format duckdb`,
		minArgs: 1,
		maxArgs: -1,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT`: lines (default), json, duckdb, spark or symlink"},
		},
		run: files,
	}
}

func files(ctx context.Context, c *call) (result, error) {
	format := c.cli.String("format")
	formats := map[string]func(io.Writer, *wap.FilesResult) error{
		"": fileLines, "lines": fileLines, "json": nil, "duckdb": duckdbSelect, "spark": sparkReads, "symlink": symlinks,
	}
	write, known := formats[format]
	switch {
	case !known:
		return nil, withHint(usage("--format %q is none of lines, json, duckdb, spark, symlink", format), "--format duckdb")
	case c.page.json && format != "" && format != "json":
		return nil, usage("--json and --format %s are two formats", format)
	}
	c.page.json = c.page.json || format == "json"
	w, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	r, err := w.Files(ctx, c.line.args)
	if err == nil && format == "symlink" {
		err = onePartition(r)
	}
	if err != nil && !c.page.json {
		return nil, err // half a list would be read as a whole one
	}
	return filesOutput{r, write}, err
}

type filesOutput struct {
	*wap.FilesResult
	write func(io.Writer, *wap.FilesResult) error
}

func (o filesOutput) text(w io.Writer, _ style) error { return o.write(w, o.FilesResult) }

// place is where a program on this machine finds the file.
func place(f wap.FileEntry) string {
	if f.Local != "" {
		return f.Local
	}
	return f.URL
}

func fileLines(w io.Writer, r *wap.FilesResult) error {
	for _, f := range r.Files {
		if _, err := fmt.Fprintln(w, place(f)); err != nil {
			return err
		}
	}
	return nil
}

// onePartition refuses a symlink file that would mix partitions: its readers
// take the partition's keys from where the symlink file stands.
func onePartition(r *wap.FilesResult) error {
	for _, f := range r.Files {
		if f.Path != r.Files[0].Path {
			return withHint(usage("a symlink file is of one partition, and there are files of %s and %s", r.Files[0].Path, f.Path),
				"wap files %s --format symlink", shellQuote(r.Files[0].Path))
		}
	}
	return nil
}

func symlinks(w io.Writer, r *wap.FilesResult) error {
	for _, f := range r.Files {
		if _, err := fmt.Fprintln(w, f.URL); err != nil {
			return err
		}
	}
	return nil
}

// fileGroup are files that are read in one way: the same constants beside what
// they store.
type fileGroup struct {
	path      string // of the partition
	files     []wap.FileEntry
	constants []constant
}

// constant is a partition key that the files of a group do not store.
type constant struct {
	name, arrow string
	value       string
	null        bool
}

// hiveNull is how a partition path writes a key without a value.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// groupFiles keeps the order of the files.
func groupFiles(r *wap.FilesResult) []fileGroup {
	var groups []fileGroup
	at := map[string]int{}
	for _, f := range r.Files {
		id := f.Path + "\x00" + strings.Join(f.Stored, "\x00")
		i, seen := at[id]
		if !seen {
			i = len(groups)
			at[id] = i
			groups = append(groups, fileGroup{path: f.Path, constants: constants(r, f)})
		}
		groups[i].files = append(groups[i].files, f)
	}
	return groups
}

func constants(r *wap.FilesResult, f wap.FileEntry) []constant {
	var list []constant
	for _, k := range f.Partition.Keys {
		stored := false
		for _, s := range f.Stored {
			stored = stored || s == k.Name
		}
		if stored {
			continue
		}
		c := constant{name: k.Name, arrow: k.Type, value: k.Value, null: k.Value == hiveNull}
		if c.arrow == "" {
			c.arrow = tableKeyType(r, f.Partition.Table, k.Name)
		}
		list = append(list, c)
	}
	return list
}

func tableKeyType(r *wap.FilesResult, table, key string) string {
	for _, t := range r.Tables {
		if t.Name != table {
			continue
		}
		for _, k := range t.Table.Keys {
			if k.Name == key {
				return k.Type
			}
		}
	}
	return "string"
}

// sparkRead is one spark.read.parquet(*paths) with what has to be added to it.
type sparkRead struct {
	Paths     []string        `json:"paths"`
	Constants []sparkConstant `json:"constants"`
}

type sparkConstant struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Value *string `json:"value"` // null: the key has no value
}

func sparkReads(w io.Writer, r *wap.FilesResult) error {
	out := struct {
		Sequence int64       `json:"sequence"`
		Reads    []sparkRead `json:"reads"`
	}{r.Sequence, []sparkRead{}}
	for _, g := range groupFiles(r) {
		read := sparkRead{Constants: []sparkConstant{}}
		for _, f := range g.files {
			read.Paths = append(read.Paths, sparkPath(f.URL))
		}
		for _, c := range g.constants {
			value := &c.value
			if c.null {
				value = nil
			}
			read.Constants = append(read.Constants, sparkConstant{c.name, engineType(c.arrow, sparkTypes()), value})
		}
		out.Reads = append(out.Reads, read)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// sparkPath is a URL as Hadoop's file system takes it: by the scheme of its own
// client, and with the characters of its globs escaped.
func sparkPath(url string) string {
	if rest, ok := strings.CutPrefix(url, "s3://"); ok {
		url = "s3a://" + rest
	}
	var b strings.Builder
	for _, r := range url {
		if strings.ContainsRune(`\*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
